"""The report as pages of HTML: what each model knows of each construction, asked in three ways.

`read_run` reads the tables of the reports that ran, `cast_of` says who the models are, `findings_of` gives each rate
with the best blind model beside it and a verdict by a stated rule, and `render_pages` fills the templates. What did not
run is "not asked", never zero. The pages open from a disk, without a network.
"""
