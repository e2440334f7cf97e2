//! What is measured beside a workload: a protocol and how a program uses it.

use core::fmt;

use crate::catalog;
use crate::error::Error;

/// A protocol with a policy: `PROTOCOL[+POLICY]...`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scenario {
    /// The protocol's name.
    pub protocol: &'static str,
    /// How the program uses it, where the workload has a choice. Several
    /// choices are joined by commas.
    pub policy: Option<String>,
}

impl Scenario {
    /// A scenario of a protocol's name and a policy.
    ///
    /// # Errors
    /// An unknown protocol.
    pub fn new(protocol: &str, policy: Option<&str>) -> Result<Scenario, Error> {
        let known = catalog::protocol_names();
        match known.iter().find(|known| **known == protocol) {
            Some(protocol) => Ok(Scenario { protocol, policy: policy.map(str::to_owned) }),
            None => Err(Error::unknown("protocol", protocol, &known)),
        }
    }

    /// Reads `vi`, `vi+work-group` or `vi+work-group+same-cu`.
    ///
    /// # Errors
    /// An unknown protocol or an empty policy. Whether a workload has that
    /// policy is known when they meet.
    pub fn parse(text: &str) -> Result<Scenario, Error> {
        let Some((protocol, policies)) = text.split_once('+') else { return Scenario::new(text, None) };
        let policies: Vec<&str> = policies.split('+').map(str::trim).collect();
        if policies.iter().any(|policy| policy.is_empty()) {
            return Err(Error::unknown("policy", "", &["PROTOCOL+POLICY"]));
        }
        Scenario::new(protocol.trim(), Some(&policies.join(",")))
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.policy {
            None => write!(out, "{}", self.protocol),
            Some(policy) => write!(out, "{}+{}", self.protocol, policy.replace(',', "+")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_is_written_as_it_is_read() {
        for text in ["vi", "no-l1+work-group", "vi+work-group+same-cu"] {
            assert_eq!(Scenario::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Scenario::parse("vi+a+b").unwrap().policy.as_deref(), Some("a,b"));
    }

    #[test]
    fn an_unknown_protocol_gets_the_nearest_name_and_an_empty_policy_is_refused() {
        let error = |text: &str| Scenario::parse(text).unwrap_err().to_string();
        assert_eq!(error("nol1+x"), "unknown protocol `nol1`, did you mean `no-l1`?");
        assert!(error("vi+").contains("expected one of PROTOCOL+POLICY"));
        assert!(error("").starts_with("unknown protocol ``"));
    }
}
