//! Several demands in one case. Where a case cannot say all of them, it says the weaker thing, and a remark names the rest.

use super::expect::{Call, Demand, Expected, Want};
use super::reader::{Kind, Reader};
use crate::case::Order;

/// How many calls a case may expect.
const MOST_CALLS: usize = 256;
const NEVER_MET: &str = "contradicts another assertion of the test";

/// The case that the demands come to; nothing where it would expect nothing.
pub(super) fn conclude(reader: &mut Reader<'_>, demands: &[Demand]) -> Option<Expected> {
    let mut case = Conclusion { reader, calls: Vec::new(), order: Order::Superset, forbid: Vec::new() };
    if demands.iter().any(|demand| matches!(demand.want, Want::Nothing)) {
        return Some(case.nothing(demands));
    }
    // What says most comes first: a frame, arguments within it, further calls, then how many there are.
    for demand in demands {
        case.frame(demand);
    }
    for demand in demands {
        case.arguments(demand);
    }
    for demand in demands {
        case.used(demand);
    }
    for demand in demands {
        case.counted(demand);
    }
    for demand in demands {
        case.forbidden(demand);
    }
    case.finish(demands)
}

struct Conclusion<'r, 'f> {
    reader: &'r mut Reader<'f>,
    calls: Vec<Call>,
    order: Order,
    forbid: Vec<String>,
}

impl Conclusion<'_, '_> {
    fn left_out(&mut self, demand: &Demand, why: &str) {
        self.reader.left_out(&demand.place, format!("{}: {why}", demand.label));
    }

    fn nothing(&mut self, demands: &[Demand]) -> Expected {
        for demand in demands {
            match demand.want {
                Want::Nothing | Want::Never(_) | Want::AtMost(_) | Want::AtLeast(0) => {}
                _ => self.left_out(demand, NEVER_MET),
            }
        }
        Expected { calls: Vec::new(), order: Order::Unordered, forbid: Vec::new() }
    }

    /// An order, or a set of tools: the first of them decides.
    fn frame(&mut self, demand: &Demand) {
        let (tools, order) = match &demand.want {
            Want::Sequence(tools, is_exact) => (tools, if *is_exact { Order::Strict } else { Order::InOrder }),
            Want::Only(tools) => (tools, Order::Unordered),
            _ => return,
        };
        if self.order != Order::Superset {
            return self.left_out(demand, "a case has one order; that of the first assertion was taken");
        }
        if tools.len() > MOST_CALLS {
            return self.left_out(demand, "more than 256 calls");
        }
        if matches!(demand.want, Want::Only(_)) {
            let what = format!("{}: the case expects one call of each tool", demand.label);
            self.reader.remark(Kind::Stricter, &demand.place, what);
        }
        self.order = order;
        self.calls = tools.iter().map(|tool| Call::any(tool)).collect();
    }

    fn arguments(&mut self, demand: &Demand) {
        let Want::Arguments(call) = &demand.want else { return };
        if self.order == Order::Superset {
            return self.further_arguments(demand, call);
        }
        let of_tool: Vec<usize> = (0..self.calls.len()).filter(|at| self.calls[*at].tool == call.tool).collect();
        match of_tool.as_slice() {
            [only] if self.calls[*only].is_any() => {
                if self.order == Order::InOrder {
                    let what = format!("{}: the call in the sequence must have these arguments", demand.label);
                    self.reader.remark(Kind::Stricter, &demand.place, what);
                }
                self.calls[*only] = call.clone();
            }
            [only] if call.follows_from(&self.calls[*only]) => {}
            [] if self.order.is_closed() => self.left_out(demand, NEVER_MET),
            [] => self.left_out(demand, "a case in order has no call whose place is open"),
            _ => self.left_out(demand, "which call of the sequence it means is open"),
        }
    }

    fn further_arguments(&mut self, demand: &Demand, call: &Call) {
        if self.calls.iter().any(|known| call.follows_from(known)) {
            return;
        }
        if let Some(known) = self.calls.iter_mut().find(|known| known.follows_from(call)) {
            *known = call.clone();
        } else if self.calls.iter().all(|known| known.excludes(call)) {
            self.add(demand, call.clone());
        } else {
            self.left_out(demand, "one call may meet this and another assertion, a case expects a call for each");
        }
    }

    fn add(&mut self, demand: &Demand, call: Call) {
        if self.calls.len() >= MOST_CALLS {
            self.left_out(demand, "more than 256 calls");
        } else {
            self.calls.push(call);
        }
    }

    fn used(&mut self, demand: &Demand) {
        let Want::Used(tool, times) = &demand.want else { return };
        let known = self.calls.iter().filter(|call| call.tool == *tool).count();
        match self.order {
            _ if known >= *times => {}
            Order::Superset if *times > MOST_CALLS => self.left_out(demand, "more than 256 calls"),
            Order::Superset => (known..*times).for_each(|_| self.add(demand, Call::any(tool))),
            Order::InOrder => self.left_out(demand, "a case in order has no call whose place is open"),
            _ => self.left_out(demand, NEVER_MET),
        }
    }

    fn counted(&mut self, demand: &Demand) {
        let known = self.calls.len();
        match demand.want {
            Want::AtLeast(least) if least > known && self.order.is_closed() => self.left_out(demand, NEVER_MET),
            Want::AtLeast(least) if least > known => self.left_out(demand, "a case counts calls of named tools only"),
            Want::AtMost(most) if most < known => self.left_out(demand, NEVER_MET),
            // As many as are expected: no others.
            Want::AtMost(most) if most == known && known > 0 => {
                self.order = match self.order {
                    Order::InOrder => Order::Strict,
                    Order::Superset => Order::Unordered,
                    closed => closed,
                };
            }
            Want::AtMost(_) if self.order.is_closed() => {}
            Want::AtMost(_) => self.left_out(demand, "a case allows any number of other calls, or none"),
            _ => {}
        }
    }

    fn forbidden(&mut self, demand: &Demand) {
        let Want::Never(tool) = &demand.want else { return };
        if self.calls.iter().any(|call| call.tool == *tool) {
            self.left_out(demand, NEVER_MET);
        } else if !self.forbid.contains(tool) {
            self.forbid.push(tool.clone());
        }
    }

    fn finish(mut self, demands: &[Demand]) -> Option<Expected> {
        if self.calls.is_empty() {
            for demand in demands.iter().filter(|demand| matches!(demand.want, Want::Never(_))) {
                self.left_out(demand, "a case that only forbids tools expects nothing");
            }
            return None;
        }
        Some(Expected { calls: self.calls, order: self.order, forbid: self.forbid })
    }
}
