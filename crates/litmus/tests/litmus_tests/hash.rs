//! Compares the hashes of tests with the hashes that herd 7.58 prints. A hash does not depend on
//! the test's name.

use litmus::parse::{hash, parse};

#[track_caller]
fn expect(text: &str, expected: &str) {
    let program = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(hash(text, &program), expected, "{text}");
}

#[test]
fn hashes_of_c_tests_are_herds() {
    let cases = [
        (
            "{ x = 1 }",
            "P0 (const int* x) {\n  int r0 = *x;\n}",
            "forall (0:r0=1)",
            "f26e77b9ef2528a6e6c9757a77f150a1",
        ),
        (
            "{}",
            "P0 (const int* y,volatile int* x) {\n  int r0 = *x;\n  *y = 1;\n}",
            "forall (0:r0=1 /\\ y=1)",
            "d92b65c8b850301b8f1b811599b2f905",
        ),
        (
            "{}",
            "P0 (int* y) {\n  atomic_fetch_add_explicit(y,1,memory_order_seq_cst);\n}",
            "forall y=1",
            "71a98e010b15b2b87bfe01c34e457390",
        ),
        (
            "{ int x = 0 }",
            "P0(int *x) {\n  *x = 1;\n}",
            "forall ( x = 1 )",
            "17c3538e1d8870eb1bb0ac35f89243af",
        ),
    ];
    for (initial, code, condition, expected) in cases {
        expect(&format!("C t\n\n{initial}\n\n{code}\n\n{condition}\n"), expected);
        // The name, and comments and blanks outside of bodies, do not change the hash.
        let code = code.replace("P0", "P0\n  (* nothing *) ");
        expect(&format!("C other\n\"text\"\n(* c *)\n{initial}\n{code}\n\n\n{condition}\n"), expected);
    }
}

#[test]
fn a_hash_of_two_threads_is_herds() {
    let text = "C MP\n{}\nP0(int *buf, int *flag)\n{\n\tWRITE_ONCE(*buf, 1);\n\tsmp_store_release(flag, 1);\n}\n\n\
                P1(int *buf, int *flag)\n{\n\tint r0;\n\tint r1;\n\n\tr0 = smp_load_acquire(flag);\n\t\
                r1 = READ_ONCE(*buf);\n}\nexists (1:r0=1 /\\ 1:r1=0)\n";
    expect(text, "f259d8efc86e0b40c7168bf58524ab49");
}

/// The hash covers some parts of the test. If such a part changes, the hash changes. If any other
/// part changes, the hash stays the same.
#[test]
fn a_hash_depends_on_state_code_and_observed_terms() {
    let of = |text: &str| hash(text, &parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")));
    let base = "LISA t\n{ x = 0; }\n P0        | P1           ;\n w[once] x 1 | L: r[once] r0 x ;\n           | b[] r0 L ;\nexists (1:r0=1)\n";
    let first = of(base);
    for (from, to) in [
        ("LISA t", "LISA u\n\"d\"\nKey=value"),
        ("| P1           ;", "|    P1 ;"),
        ("L: r", "M: r"),
        ("exists (1:r0=1)", "forall (1:r0=2)"),
        ("exists (1:r0=1)", "filter (1:r0=0) exists (1:r0=1 /\\ 1:r0=2)"),
    ] {
        let text = if from == "L: r" {
            base.replace("L: r", "M: r").replace("r0 L", "r0 M")
        } else {
            base.replace(from, to)
        };
        assert_ne!(text, base);
        assert_eq!(of(&text), first, "{text}");
    }
    for (from, to) in [
        ("x = 0", "x = 1"),
        ("once] x 1", "once] x 2"),
        ("exists (1:r0=1)", "exists (1:r0=1 /\\ x=1)"),
        ("w[once]", "w[]"),
    ] {
        assert_ne!(of(&base.replace(from, to)), first, "{from}");
    }
}

/// If the header of a test has a hash, this hash replaces the computed hash.
#[test]
fn a_header_may_give_the_hash() {
    let test = |line: &str| format!("LISA t\n{line}\n{{ x = 0; }}\n P0 ;\n w[once] x 1 ;\nexists (x=1)\n");
    let of = |text: &str| hash(text, &parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")));
    assert_eq!(of(&test("Hash=abc123")), "abc123");
    assert_eq!(of(&test("\"Hash=abc123\"")), "abc123");
    // An empty hash, or a hash after the header, is ignored.
    let computed = of(&test("\"d\""));
    assert_eq!(computed.len(), 32);
    assert_eq!(of(&test("Hash=")), computed);
    assert_eq!(of(&test("\"d\"").replace("exists", "(* Hash=abc123 *) exists")), computed);
}

/// The order of the observed terms (the registers and locations of a final state) has no influence
/// on the hash. The computation of the hash sorts these terms: registers by thread, then memory by
/// name, then elements of arrays.
#[test]
fn the_order_of_observed_terms_does_not_count() {
    let of = |ask: &str| {
        let text = format!(
            "C t\n{{ int a[2]; int z; }}\nP0(int* a, int* z, int* b) {{ int r1 = *z; int r0 = *b; *z = 1; }}\n{ask}\n"
        );
        hash(&text, &parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")))
    };
    let first = of("locations [0:r0; 0:r1; b; z; a[0]; a[1]] exists (z=1)");
    for ask in [
        "locations [a[1]; a[0]; z; b; 0:r1; 0:r0] exists (z=1)",
        "locations [b; b; a[1]] exists (0:r1=1 /\\ a[0]=1 /\\ 0:r0=1 /\\ z=1)",
    ] {
        assert_eq!(of(ask), first, "{ask}");
    }
    assert_ne!(of("locations [0:r0; 0:r1; b; z; a[0]] exists (z=1)"), first);
}
