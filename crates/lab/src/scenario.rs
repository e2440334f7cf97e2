//! Scenarios. A scenario is a protocol together with a policy of the program.

use core::fmt;

use proto::Info;
use workloads::stealing::{for_machine, scenario};

use crate::error::{Error, printable};

/// The scenarios of the hLRC paper whose name differs from the name of their protocol. Each entry
/// has the name of the scenario and the name of its protocol. The first three run on the paper's
/// baseline machine (section IV).
const PROTOCOLS: [(&str, &str); 4] =
    [("baseline", "vi"), ("scope-only", "vi"), ("steal-only", "vi"), ("hlrc-scoped", "hlrc")];

/// A protocol or a scenario of the hLRC paper, with the policies that the user adds. The user
/// writes it as `NAME[+POLICY]...`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scenario {
    /// The name of the scenario. For a protocol alone, the name of the protocol.
    pub name: &'static str,
    /// The name of the protocol.
    pub protocol: &'static str,
    /// The policy that the scenario prescribes for programs that steal work. `None` if the hLRC
    /// paper has no scenario with this name or this protocol.
    pub stealing: Option<&'static str>,
    /// The policy that the user gives: it replaces the default policy of the workload. Several
    /// policies are joined by commas. `None` if the user gives no policy.
    pub policy: Option<String>,
}

impl Scenario {
    /// The scenario with this name and this policy.
    ///
    /// # Errors
    /// If the name is unknown.
    pub fn new(name: &str, policy: Option<&str>) -> Result<Scenario, Error> {
        let known = Scenario::all();
        match known.iter().find(|known| known.name == name) {
            Some(known) => Ok(Scenario { policy: policy.map(str::to_owned), ..known.clone() }),
            None => {
                let names: Vec<_> = known.iter().map(|known| known.name).collect();
                Err(Error::unknown("protocol", name, &names))
            }
        }
    }

    /// The scenarios that users can name: every protocol, and every scenario of the hLRC paper
    /// whose protocol exists.
    #[must_use]
    pub fn all() -> Vec<Scenario> {
        let of_protocol = |info: &Info| Scenario {
            name: info.name,
            protocol: info.name,
            stealing: for_machine(info.sharing, info.name).map(|scenario| scenario.policy),
            policy: None,
        };
        let of_paper = |&(name, protocol): &(&'static str, &'static str)| Scenario {
            name,
            protocol,
            stealing: scenario(name).map(|scenario| scenario.policy),
            policy: None,
        };
        let exists = |protocol: &str| zoo::ALL.iter().any(|info| info.name == protocol);
        let on_what_there_is = PROTOCOLS.iter().filter(|(_, protocol)| exists(protocol));
        zoo::ALL.iter().map(of_protocol).chain(on_what_there_is.map(of_paper)).collect()
    }

    /// Parses a scenario such as `vi`, `vi+work-group`, `vi+work-group+same-cu` or `steal-only`.
    ///
    /// # Errors
    /// If the name is unknown or a policy is empty. This function does not check that the workload
    /// has the policy.
    pub fn parse(text: &str) -> Result<Scenario, Error> {
        let Some((name, policies)) = text.split_once('+') else { return Scenario::new(text, None) };
        let policies: Vec<&str> = policies.split('+').map(str::trim).collect();
        if policies.iter().any(|policy| policy.is_empty()) {
            let text = printable(text);
            return Err(Error::Impossible(format!(
                "scenario `{text}` has an empty policy, expected NAME or NAME+POLICY"
            )));
        }
        Scenario::new(name.trim(), Some(&policies.join(",")))
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.policy {
            None => write!(out, "{}", self.name),
            Some(policy) => write!(out, "{}+{}", self.name, policy.replace(',', "+")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_is_written_as_it_is_read() {
        for text in ["vi", "no-l1+work-group", "vi+work-group+same-cu", "steal-only", "rsp+packed"] {
            assert_eq!(Scenario::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Scenario::parse("vi+a+b").unwrap().policy.as_deref(), Some("a,b"));
    }

    #[test]
    fn an_unknown_protocol_gets_the_nearest_name_and_an_empty_policy_is_refused() {
        let error = |text: &str| Scenario::parse(text).unwrap_err().to_string();
        assert_eq!(error("nol1+x"), "unknown protocol `nol1`, did you mean `no-l1`?");
        assert_eq!(error("vi+"), "scenario `vi+` has an empty policy, expected NAME or NAME+POLICY");
        assert!(error("").starts_with("unknown protocol ``"));
    }

    #[test]
    fn the_scenarios_of_the_paper_have_the_policies_of_the_workloads() {
        let of = |name: &str| {
            let scenario = Scenario::parse(name).unwrap();
            (scenario.protocol, scenario.stealing)
        };
        assert_eq!(of("baseline"), ("vi", Some("device,no-steal")));
        assert_eq!(of("scope-only"), ("vi", Some("work-group,no-steal")));
        assert_eq!(of("steal-only"), ("vi", Some("device,steal-device")));
        assert_eq!(of("rsp"), ("rsp", Some("work-group,steal-remote")));
        assert_eq!(of("vi"), ("vi", None));
        assert_eq!(of("hlrc"), ("hlrc", Some("work-group,steal-unscoped")));
        assert_eq!(of("denovo-b"), ("denovo-b", Some("work-group,steal-unscoped")));
        for scenario in &workloads::stealing::SCENARIOS {
            assert_eq!(of(scenario.name).1, Some(scenario.policy));
        }
    }
}
