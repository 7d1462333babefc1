#!/bin/sh
# Makes the parser again: sh train.sh path/to/UD_English-EWT path/to/texts
# The first is the treebank's folder; the second has .json.gz files with an object with "text" a line, as the folder
# `corpus` that models/train.py writes. Everything is made beside this script; git ignores all but the pipeline.
set -eu
treebank=$(realpath "$1")
texts=$(realpath "$2")
cd "$(dirname "$0")"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

mkdir -p corpus/train corpus/single corpus/ten
for part in train dev test; do
    cat "$treebank/en_ewt-ud-$part.conllu" > "corpus/$part.conllu" 2> /dev/null ||
        gzip --decompress --stdout "$treebank/en_ewt-ud-$part.conllu.gz" > "corpus/$part.conllu"
done
python ../tagger/swap_forms.py corpus/train.conllu corpus/swapped.conllu
for part in train swapped dev test; do python -m spacy convert "corpus/$part.conllu" corpus/single --n-sents 1; done
for part in train test; do python -m spacy convert "corpus/$part.conllu" corpus/ten --n-sents 10; done
mv corpus/ten/train.spacy corpus/train/paragraphs.spacy
mv corpus/single/train.spacy corpus/train/sentences.spacy
mv corpus/single/swapped.spacy corpus/train/swapped.spacy

python vectors.py "$texts" vectors
python -m spacy train config.cfg --output training
python ../tagger/pack.py training/model-best en_ewt_cxprobe \
    "Tagger, morphologizer, parser and lemmatizer for English, trained on UD English EWT." --rounded
python ../tagger/measure.py en_ewt_cxprobe corpus/single/test.spacy
python ../tagger/measure.py en_ewt_cxprobe corpus/ten/test.spacy
