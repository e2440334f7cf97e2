//! Error messages name the place in the file, the value found there and the value expected.

use workloads::graph::{DefectPolicy, Format, ReadOptions};

use super::load;

fn sentence(format: Format, text: &str) -> String {
    let options = ReadOptions {
        format: Some(format),
        self_loops: DefectPolicy::Refuse,
        duplicates: DefectPolicy::Refuse,
        memory_bytes: 1 << 20,
        ..ReadOptions::default()
    };
    match load(text.as_bytes(), &options) {
        Ok(loaded) => panic!("{text:?} was read as {loaded:?}"),
        Err(error) => error.to_string(),
    }
}

fn check(format: Format, cases: &[(&str, &str)]) {
    for (text, want) in cases {
        assert_eq!(sentence(format, text), *want, "for {text:?}");
    }
}

const MTX: &str = "%%MatrixMarket matrix coordinate";

#[test]
fn errors_of_a_matrix_are_named() {
    let cases = [
        ("", "g:1:1: the file ends here, expected `%%MatrixMarket`"),
        ("%%MatrixMarket vector", "g:1:16: found `vector`, expected `matrix`"),
        (
            "%%MatrixMarket matrix array real general\n",
            "g:1:23: found `array`, expected `coordinate`, since a dense array is not a graph",
        ),
        (
            &format!("{MTX} complex general\n"),
            "g:1:34: found `complex`, expected `real`, `integer` or `pattern`",
        ),
        (
            &format!("{MTX} real hermitian\n"),
            "g:1:39: found `hermitian`, expected `general`, `symmetric` or `skew-symmetric`",
        ),
        (
            &format!("{MTX} pattern skew-symmetric\n"),
            "g:1:42: found `skew-symmetric`, expected `general` or `symmetric`, since a pattern has no signs",
        ),
        (
            &format!("{MTX} real general"),
            "g:1:46: the file ends here, expected a line with the numbers of rows, columns and entries",
        ),
        (
            &format!("{MTX} real general\n% x\n\n2 x 1\n"),
            "g:4:3: found `x`, expected a number of columns from 1 to 4294967295",
        ),
        (
            &format!("{MTX} real general\n2 3 1\n"),
            "g:2:3: found `3`, expected as many columns as rows, 2, because only square matrices are read",
        ),
        (
            &format!("{MTX} real general\n2 2\n1 1 1"),
            "g:2:4: found the end of the line, expected a number of entries from 0 to 4611686018427387903",
        ),
        (&format!("{MTX} real general\n2 2 2\n1 2 1\n"), "g:4:1: the file ends here, expected entry 2 of 2"),
        (
            &format!("{MTX} real general\n2 2 1\n1 2 1\n2 1 1\n"),
            "g:4:1: found `2`, expected the end of the file after 1 entry",
        ),
        (&format!("{MTX} real general\n2 2 1\n1 3 1\n"), "g:3:3: found `3`, expected a column from 1 to 2"),
        (&format!("{MTX} real general\n2 2 1\n0 1 1\n"), "g:3:1: found `0`, expected a row from 1 to 2"),
        (
            &format!("{MTX} real general\n2 2 1\n1 2 one\n"),
            "g:3:5: found `one`, expected a value, a finite number",
        ),
        (
            &format!("{MTX} real general\n2 2 1\n1 2 nan\n"),
            "g:3:5: found `nan`, expected a value, a finite number",
        ),
        (
            &format!("{MTX} integer general\n2 2 1\n1 2 1.5\n"),
            "g:3:5: found `1.5`, expected a value, a whole number from -2^53 to 2^53",
        ),
        (
            &format!("{MTX} real general\n2 2 1\n1 2\n"),
            "g:3:4: found the end of the line, expected a value, a finite number",
        ),
        (
            &format!("{MTX} pattern general\n2 2 1\n1 2 7\n"),
            "g:3:5: found `7`, expected the end of the line after an entry",
        ),
        (
            &format!("{MTX} pattern symmetric\n2 2 1\n1 2\n"),
            "g:3:3: found `2`, expected a column of at most 1, since a symmetric file stores the lower triangle",
        ),
        (
            &format!("{MTX} real skew-symmetric\n2 2 1\n2 2 1\n"),
            "g:3:3: found `2`, expected a column before 2, since a skew-symmetric file stores entries below the diagonal",
        ),
        (
            &format!("{MTX} pattern general\n2 2 1\n2 2\n"),
            "g:3:1: found a self loop, which the options of the reader refuse",
        ),
        (
            &format!("{MTX} pattern general\n3 3 4\n1 2\n2 3\n% x\n3 1\n1 2\n"),
            "g:7:1: found a duplicate of the arc from vertex 0 to vertex 1 (counted from 0) on line 3, which \
             the options of the reader refuse",
        ),
        (
            &format!("{MTX} pattern general\n4000000000 4000000000 9\n"),
            "g:2:23: a graph of 4000000000 vertices and 9 arcs needs at least 119.2 GiB of memory to read, \
             but the reader may use at most 1.0 MiB",
        ),
        (
            &format!("{MTX} pattern general\n9 9 1000000\n"),
            "g:2:5: a graph of 9 vertices and 1000000 arcs needs at least 34.3 MiB of memory to read, but \
             the reader may use at most 1.0 MiB",
        ),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(text, want)| (*text, *want)).collect();
    check(Format::MatrixMarket, &cases);
}

#[test]
fn errors_of_a_dimacs_file_are_named() {
    check(
        Format::Dimacs,
        &[
            ("", "g:1:1: the file ends here, expected the problem line `p sp VERTICES ARCS`"),
            ("c only\n", "g:2:1: the file ends here, expected the problem line `p sp VERTICES ARCS`"),
            ("a 1 2 3\n", "g:1:1: found `a`, expected the problem line `p sp VERTICES ARCS`"),
            ("p edge 3 2\n", "g:1:3: found `edge`, expected `sp`, the shortest path problem"),
            ("p sp 0 0\n", "g:1:6: found `0`, expected a number of vertices from 1 to 4294967295"),
            (
                "p sp 3\n",
                "g:1:7: found the end of the line, expected a number of arcs from 0 to 4611686018427387903",
            ),
            ("p sp 3 1\ne 1 2 3\n", "g:2:1: found `e`, expected an arc `a FROM TO WEIGHT` or a comment `c`"),
            ("p sp 3 1\na 1 4 3\n", "g:2:5: found `4`, expected a vertex from 1 to 3"),
            (
                "p sp 3 1\na 1 2\n",
                "g:2:6: found the end of the line, expected a weight, a whole number from -2^53 to 2^53",
            ),
            (
                "p sp 3 1\na 1 2 0x5\n",
                "g:2:7: found `0x5`, expected a weight, a whole number from -2^53 to 2^53",
            ),
            ("p sp 3 1\na 1 2 3 4\n", "g:2:9: found `4`, expected the end of the line after an arc"),
            ("p sp 3 2\na 1 2 3\n", "g:3:1: the file ends here, expected arc 2 of 2"),
            ("p sp 3 1\na 1 2 3\na 2 1 3\n", "g:3:1: found `a`, expected the end of the file after 1 arc"),
            ("p sp 3 1\na 2 2 3\n", "g:2:3: found a self loop, which the options of the reader refuse"),
            (
                "p sp 3 2\na 1 2 3\na 1 2 1\n",
                "g:3:3: found a duplicate of the arc from vertex 0 to vertex 1 (counted from 0) on line 2, \
                 which the options of the reader refuse",
            ),
            (
                "p sp 50000 1\n",
                "g:1:12: a graph of 50000 vertices and 1 arc needs at least 1.5 MiB of memory to read, but \
                 the reader may use at most 1.0 MiB",
            ),
        ],
    );
}

#[test]
fn errors_of_a_metis_file_are_named() {
    check(
        Format::Metis,
        &[
            ("% x\n", "g:2:1: the file ends here, expected a header `VERTICES EDGES [FORMAT [VALUES]]`"),
            ("2 one\n", "g:1:3: found `one`, expected a number of edges from 0 to 4611686018427387903"),
            ("2 1 012\n", "g:1:5: found `012`, expected a format of at most three digits 0 or 1"),
            ("2 1 001 2\n", "g:1:9: found `2`, expected the end of the line, since vertices have no weights"),
            ("2 1 010 0\n", "g:1:9: found `0`, expected a number of vertex weights from 1 to 1000"),
            ("2 1 010 1 1\n", "g:1:11: found `1`, expected the end of the line after the header"),
            ("3 1\n2\n1\n2", "g:4:2: found 3 neighbours in all, expected 2, two for each edge of the header"),
            ("3 1\n2\n", "g:3:1: the file ends here, expected the line of vertex 2 of 3"),
            ("2 1\n2\n1\n7\n", "g:4:1: found `7`, expected the end of the file after 2 vertices"),
            ("2 1\n3\n1\n", "g:2:1: found `3`, expected a vertex from 1 to 2"),
            ("2 1\n-2\n1\n", "g:2:1: found `-2`, expected a vertex from 1 to 2"),
            (
                "2 1 1\n2 5\n1\n",
                "g:3:2: found the end of the line, expected the weight of an edge, a whole number from -2^53 to 2^53",
            ),
            (
                "2 1 10\n9 2\n\n",
                "g:3:1: found the end of the line, expected a size or weight of the vertex, a whole number from -2^53 to 2^53",
            ),
            (
                "3 1\n2 3\n\n\n",
                "g:2:1: found an edge from vertex 1 to vertex 2, expected the reverse edge on line 3",
            ),
            (
                "% x\n3 1\n\n% y\n1 3\n\n",
                "g:5:1: found an edge from vertex 2 to vertex 1, expected the reverse edge on line 3",
            ),
            (
                "2 1 1\n2 5\n1 6\n",
                "g:2:1: found weight 5 for the edge to vertex 2, expected 6, the weight of this edge on line \
                 3",
            ),
            ("2 1\n1 2\n", "g:2:1: found a self loop, which the options of the reader refuse"),
            (
                "2 2\n2 2\n1 1\n",
                "g:2:3: found a duplicate of the arc from vertex 0 to vertex 1 (counted from 0) on line 2, \
                 which the options of the reader refuse",
            ),
        ],
    );
}

#[test]
fn errors_of_a_snap_file_are_named() {
    check(
        Format::Snap,
        &[
            ("", "g:1:1: the file ends here, expected an edge `FROM TO`"),
            ("# x\n\n", "g:3:1: the file ends here, expected an edge `FROM TO`"),
            ("1\n", "g:1:2: found the end of the line, expected a vertex from 0 to 4294967294"),
            ("1 4294967295\n", "g:1:3: found `4294967295`, expected a vertex from 0 to 4294967294"),
            ("a b\n", "g:1:1: found `a`, expected a vertex from 0 to 4294967294"),
            ("1,2\n", "g:1:1: found `1,2`, expected a vertex from 0 to 4294967294"),
            ("1 2 x\n", "g:1:5: found `x`, expected a weight, a finite number"),
            ("1 2\n2 3 0.5\n", "g:2:5: found `0.5`, expected no weight, as on the first line"),
            ("1 2 1\n2 3\n", "g:2:4: found the end of the line, expected a weight, as on the first line"),
            ("1 2 1 4\n", "g:1:7: found `4`, expected the end of the line after an edge"),
            (
                "# Nodes: 3 Edges: 3\n0 1\n1 2\n",
                "g:4:1: the file ends here, expected edge 3 of 3, as line 1 announces",
            ),
            ("# Nodes: 3 Edges: 1\n0 1\n1 2\n", "g:4:1: found 2 edges, expected 1, as line 1 announces"),
            (
                "# x\n# Nodes: 2 Edges: 2\n0 1\n1 2\n",
                "g:5:1: found 3 vertices, expected 2, as line 2 announces",
            ),
            ("# Nodes: 5000000000 Edges: 2\n", "g:1:1: found 5000000000 nodes, expected at most 4294967295"),
            (
                "# Nodes: 3 Edges: 1000000\n",
                "g:1:1: a graph of 3 vertices and 1000000 arcs needs at least 34.3 MiB of memory to read, \
                 but the reader may use at most 1.0 MiB",
            ),
            ("0 1\n1 1\n", "g:2:1: found a self loop, which the options of the reader refuse"),
            (
                "0 1\n2 1\n0 1\n",
                "g:3:1: found a duplicate of the arc from vertex 0 to vertex 1 (counted from 0) on line 1, \
                 which the options of the reader refuse",
            ),
        ],
    );
}
