//! Covering arrays: small sets of combinations of values, such that each pair of values occurs in
//! some combination.

/// Rows of values such that each pair of values of two columns occurs together in some row. A
/// column has `sizes[column]` values, numbered from zero.
///
/// Each row begins with a pair that no earlier row contains. Each further column takes the value
/// that adds the most new pairs.
pub(crate) fn pairwise(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut open = pairs_of(sizes);
    let mut rows: Vec<Vec<usize>> = Vec::new();
    while let Some(&(first, second)) = open.first() {
        let mut row: Vec<Option<usize>> = vec![None; sizes.len()];
        for (column, value) in [first, second] {
            row[column] = Some(value);
        }
        for column in 0..sizes.len() {
            if row[column].is_some() {
                continue;
            }
            let gain = |value: usize| {
                let new = |&&(a, b): &&Pair| {
                    let other = match (a, b) {
                        (a, b) if a == (column, value) => b,
                        (a, b) if b == (column, value) => a,
                        _ => return false,
                    };
                    row[other.0] == Some(other.1)
                };
                open.iter().filter(new).count()
            };
            // Values that add equally many pairs are taken in turn.
            let values = (0..sizes[column]).map(|value| (value + rows.len()) % sizes[column]);
            row[column] = values.max_by_key(|&value| gain(value));
        }
        let row: Vec<usize> = row.into_iter().flatten().collect();
        open.retain(|&(a, b)| row[a.0] != a.1 || row[b.0] != b.1);
        rows.push(row);
    }
    rows
}

/// A pair of values, each with its column.
type Pair = ((usize, usize), (usize, usize));

/// All pairs of values of two columns.
fn pairs_of(sizes: &[usize]) -> Vec<Pair> {
    let values = |column: usize| (0..sizes[column]).map(move |value| (column, value));
    let columns = (0..sizes.len()).flat_map(|a| (a + 1..sizes.len()).map(move |b| (a, b)));
    columns.flat_map(|(a, b)| values(a).flat_map(move |one| values(b).map(move |two| (one, two)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_occurs_in_few_rows() {
        for sizes in [vec![2, 2], vec![5, 4, 3, 3, 2, 2], vec![3; 8], vec![1, 4], vec![7]] {
            let rows = pairwise(&sizes);
            for (a, b) in pairs_of(&sizes) {
                assert!(rows.iter().any(|row| row[a.0] == a.1 && row[b.0] == b.1), "{a:?} {b:?}");
            }
            let mut largest = sizes.clone();
            largest.sort_unstable_by(|a, b| b.cmp(a));
            let fewest = largest.iter().take(2).product::<usize>();
            assert!(rows.len() <= 2 * fewest, "{} rows for {sizes:?}", rows.len());
            assert!(rows.iter().all(|row| row.iter().zip(&sizes).all(|(value, size)| value < size)));
        }
    }
}
