//! Gives each payment a request in the customer's words of its own.

/// Finds for each of `lines` things one of `asks` others that fits it, no other for two of them. `None` where there is no such way.
pub(crate) fn one_each(
    lines: usize,
    asks: usize,
    fits: impl Fn(usize, usize) -> bool,
) -> Option<Vec<usize>> {
    let mut taken_by: Vec<Option<usize>> = vec![None; asks];
    for line in 0..lines {
        let mut tried = vec![false; asks];
        if !place(line, &fits, &mut taken_by, &mut tried) {
            return None;
        }
    }
    (0..lines)
        .map(|line| taken_by.iter().position(|taken| *taken == Some(line)))
        .collect()
}

/// Finds a place for a line, moving others to another that fits them where that makes room.
fn place(
    line: usize,
    fits: &impl Fn(usize, usize) -> bool,
    taken_by: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for ask in 0..taken_by.len() {
        if tried[ask] || !fits(line, ask) {
            continue;
        }
        tried[ask] = true;
        let is_free = match taken_by[ask] {
            None => true,
            Some(other) => place(other, fits, taken_by, tried),
        };
        if is_free {
            taken_by[ask] = Some(line);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_one_of_its_own_where_there_is_a_way() {
        // The first fits both, the second only what the first would take.
        assert_eq!(
            one_each(2, 2, |line, ask| line == 0 || ask == 0),
            Some(vec![1, 0])
        );
        assert_eq!(one_each(2, 2, |_, ask| ask == 0), None);
        assert_eq!(one_each(2, 1, |_, _| true), None);
        assert_eq!(one_each(1, 3, |_, ask| ask == 2), Some(vec![2]));
        assert_eq!(one_each(0, 0, |_, _| true), Some(vec![]));
    }
}
