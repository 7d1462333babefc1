from cxprobe.seeding import generator_for, seed_for


def test_a_seed_follows_from_what_is_drawn_and_not_from_the_order_of_calls():
    first = generator_for(1, "length", 12).random(3).tolist()
    generator_for(1, "distance", 7).random(100)
    assert generator_for(1, "length", 12).random(3).tolist() == first


def test_different_things_have_different_seeds():
    assert len({seed_for(1, "a", "bc"), seed_for(1, "ab", "c"), seed_for(2, "a", "bc")}) == 3
