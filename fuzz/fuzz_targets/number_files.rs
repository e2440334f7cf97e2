//! Any bytes are a table of finite numbers of the expected shape within the
//! memory allowed, or one line that says why not; and a table that was read is
//! the same after writing and reading.
//!
//! The first byte chooses the format, the shape and the range, the rest is the
//! file.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use workloads::files::numbers::{Expected, FINITE, NumberFormat, Table, read_from, write};

fn expected(byte: u8) -> Expected {
    let columns = u64::from(byte >> 1 & 3) + 1;
    let row_in_line = byte & 8 == 0;
    let least = if row_in_line { 1 } else { 8 };
    Expected {
        row: "row",
        columns: (columns, "columns"),
        rows: least..=8,
        range: if byte & 16 == 0 { FINITE } else { -1.0..=1.0 },
        row_in_line,
        memory_bytes: if byte & 32 == 0 { 1 << 20 } else { 100 },
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, file)) = bytes.split_first() else { return };
    let format = if first & 1 == 0 { NumberFormat::Text } else { NumberFormat::Binary };
    let expected = expected(first);
    match read_from(file, Path::new("n.bin"), format, &expected) {
        Ok(table) => check(&table, &expected),
        Err(error) => {
            let sentence = error.to_string();
            assert!(sentence.contains("n.bin") && !sentence.chars().any(char::is_control), "{sentence}");
        }
    }
});

fn check(table: &Table, expected: &Expected) {
    assert!(expected.rows.contains(&table.rows()) && table.columns() == expected.columns.0);
    assert!(table.numbers().iter().all(|number| expected.range.contains(number)));
    for format in [NumberFormat::Text, NumberFormat::Binary] {
        let mut written = Vec::new();
        write(table, format, &mut written).expect("memory");
        let roomy = Expected { memory_bytes: 1 << 20, ..expected.clone() };
        let again = read_from(&written[..], Path::new("n"), format, &roomy).expect("what was written");
        assert_eq!(again, *table);
    }
}
