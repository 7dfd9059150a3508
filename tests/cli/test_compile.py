"""``svmpath compile``."""


def test_compile_says_what_it_did(run):
    for _ in range(2):  # at the second time at the latest everything is there
        code, out, err = run("compile")
        assert code == 0, err
    assert out == (
        "The path engine: already compiled\n"
        "Leave-one-out: already compiled\n"
        "The engine of the elastic net: already compiled\n"
        "Paths over the kernel: already compiled\n"
    )
