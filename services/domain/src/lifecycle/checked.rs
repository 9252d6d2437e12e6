//! The table under a model checker: two customers, three actors (the model's side, the customer's panel, the bank's loops), and every
//! interleaving of their steps within the bound.
//!
//! An act is two steps: take the customer's lock and read, then decide and write. Between the two anybody else may move, and time may pass. The
//! same model without the lock, and with a wrong table, shows that the properties would notice.

use stateright::{Checker, HasDiscoveries, Model, Property};

use super::{ACTION_EDGES, ActionAct, ActionEdge, TRANSFER_EDGES, TransferAct, TransferState};
use crate::ActionState;

/// Requests of the first and of the second customer.
const REQUESTS: [usize; 2] = [2, 2];
/// What a customer has, and may send on a day, in payments.
const FUNDS: u8 = 1;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Action {
    state: ActionState,
    /// Its time to be confirmed, and then its time to be undone, is over.
    late: bool,
    undo_over: bool,
    transfer: Option<TransferState>,
    leaving: bool,
    /// How often it ran, was paid out, and came back.
    ran: u8,
    arrived: u8,
    returned: u8,
    /// How it ended, when it first did.
    ended: Option<ActionState>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Customer {
    actions: Vec<Action>,
    balance: u8,
    /// Ran in somebody else's session.
    by_a_stranger: bool,
}

/// Who acts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Actor {
    ModelSide,
    Panel,
    Loops,
}

/// An act on one action of one customer. `session` is whose session carries it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Order {
    session: usize,
    customer: usize,
    action: usize,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum What {
    Request,
    Confirm,
    /// Confirmed, and the bank waits.
    ConfirmHeld,
    Cancel,
    Undo,
    Expire,
    Release,
    Leave,
    Post,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct World {
    customers: [Customer; 2],
    /// What each actor is in the middle of: its order, and the customer as it read them.
    doing: [Option<(Order, Customer)>; 3],
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Step {
    Begin(Actor, Order),
    End(Actor),
    Late(usize, usize),
    UndoOver(usize, usize),
}

struct Bank {
    edges: Vec<ActionEdge>,
    lock: bool,
}

impl Bank {
    fn after(&self, state: ActionState, act: ActionAct) -> Option<ActionState> {
        self.edges
            .iter()
            .find(|(from, by, _)| (*from, *by) == (state, act))
            .map(|(_, _, to)| *to)
    }

    fn orders(&self, world: &World, actor: Actor) -> Vec<Order> {
        let mut orders = Vec::new();
        for (customer, most) in REQUESTS.iter().enumerate() {
            let there = world.customers[customer].actions.len();
            let order = |what, action, session| Order {
                session,
                customer,
                action,
                what,
            };
            match actor {
                Actor::ModelSide if there < *most => {
                    orders.push(order(What::Request, there, customer))
                }
                Actor::ModelSide => {}
                Actor::Panel => {
                    for action in 0..there {
                        for session in 0..2 {
                            orders.extend(
                                [What::Confirm, What::ConfirmHeld, What::Cancel, What::Undo]
                                    .map(|what| order(what, action, session)),
                            );
                        }
                    }
                }
                Actor::Loops => {
                    for action in 0..there {
                        orders.extend(
                            [What::Expire, What::Release, What::Leave, What::Post]
                                .map(|what| order(what, action, customer)),
                        );
                    }
                }
            }
        }
        orders
    }

    /// What an act makes of the customer it read; nothing where it changes nothing.
    fn decide(&self, order: Order, read: &Customer) -> Option<Customer> {
        // A stranger's session finds no such action.
        if order.session != order.customer {
            return None;
        }
        let mut next = read.clone();
        if order.what == What::Request {
            for open in next
                .actions
                .iter_mut()
                .filter(|action| action.state == ActionState::Pending)
            {
                open.state = self.after(open.state, ActionAct::Supersede)?;
            }
            next.actions.push(Action {
                state: ActionState::Pending,
                late: false,
                undo_over: false,
                transfer: None,
                leaving: false,
                ran: 0,
                arrived: 0,
                returned: 0,
                ended: None,
            });
            return Some(next);
        }
        let stood = next.actions.get(order.action).copied()?;
        let action = next.actions.get_mut(order.action)?;
        match order.what {
            What::Confirm | What::ConfirmHeld if stood.late => {
                action.state = self.after(stood.state, ActionAct::Expire)?
            }
            What::ConfirmHeld => {
                action.state = self.after(stood.state, ActionAct::Hold)?;
                action.late = false;
            }
            // A held one is let go by the loops alone.
            What::Confirm if stood.state == ActionState::Held => return None,
            What::Confirm | What::Release => {
                if order.what == What::Release && (stood.state != ActionState::Held || stood.late) {
                    return None;
                }
                if next.balance == 0 {
                    let no = if order.what == What::Release {
                        ActionAct::Cancel
                    } else {
                        ActionAct::Refuse
                    };
                    action.state = self.after(stood.state, no)?;
                } else {
                    action.state = self.after(stood.state, ActionAct::Execute)?;
                    action.transfer = Some(TransferState::Reserved);
                    action.ran = action.ran.saturating_add(1);
                    next.balance = next.balance.wrapping_sub(1);
                }
            }
            What::Cancel => action.state = self.after(stood.state, ActionAct::Cancel)?,
            What::Expire if stood.late => {
                action.state = self.after(stood.state, ActionAct::Expire)?
            }
            What::Undo if !stood.undo_over && !stood.leaving => {
                action.transfer = Some(moved(stood.transfer?, TransferAct::Void)?);
                action.returned = action.returned.saturating_add(1);
                next.balance = next.balance.wrapping_add(1);
            }
            What::Leave if stood.undo_over && stood.transfer == Some(TransferState::Reserved) => {
                action.leaving = true
            }
            What::Post if stood.leaving => {
                action.transfer = Some(moved(stood.transfer?, TransferAct::Post)?);
                action.arrived = action.arrived.saturating_add(1);
            }
            _ => return None,
        }
        Some(next)
    }
}

fn moved(state: TransferState, act: TransferAct) -> Option<TransferState> {
    TRANSFER_EDGES
        .iter()
        .find(|(from, by, _)| (*from, *by) == (state, act))
        .map(|(_, _, to)| *to)
}

const ACTORS: [Actor; 3] = [Actor::ModelSide, Actor::Panel, Actor::Loops];

impl Model for Bank {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        let customer = Customer {
            actions: Vec::new(),
            balance: FUNDS,
            by_a_stranger: false,
        };
        vec![World {
            customers: [customer.clone(), customer],
            doing: [None, None, None],
        }]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        for actor in ACTORS {
            if world.doing[actor as usize].is_some() {
                steps.push(Step::End(actor));
                continue;
            }
            for order in self.orders(world, actor) {
                let taken = world
                    .doing
                    .iter()
                    .flatten()
                    .any(|(other, _)| other.customer == order.customer);
                if !(self.lock && taken) {
                    steps.push(Step::Begin(actor, order));
                }
            }
        }
        for (customer, those) in world.customers.iter().enumerate() {
            for (action, each) in those.actions.iter().enumerate() {
                if !each.late && matches!(each.state, ActionState::Pending | ActionState::Held) {
                    steps.push(Step::Late(customer, action));
                }
                if !each.undo_over && each.transfer == Some(TransferState::Reserved) {
                    steps.push(Step::UndoOver(customer, action));
                }
            }
        }
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let mut next = world.clone();
        match step {
            Step::Begin(actor, order) => {
                let read = world.customers[order.customer].clone();
                // What would change nothing need not be played out.
                self.decide(order, &read)?;
                next.doing[actor as usize] = Some((order, read));
            }
            Step::End(actor) => {
                let (order, read) = next.doing[actor as usize].take()?;
                let made = self.decide(order, &read)?;
                let there = &mut next.customers[order.customer];
                there.by_a_stranger |= order.session != order.customer;
                there.balance = there
                    .balance
                    .wrapping_add(made.balance)
                    .wrapping_sub(read.balance);
                for (place, action) in made.actions.iter().enumerate() {
                    match (read.actions.get(place), there.actions.get_mut(place)) {
                        // Only the rows that an act changed are written, with what it made of them.
                        (Some(before), Some(now)) if before != action => {
                            let (late, undo_over) = (now.late, now.undo_over);
                            let (ran, arrived, returned) = (
                                now.ran + action.ran - before.ran,
                                now.arrived + action.arrived - before.arrived,
                                now.returned + action.returned - before.returned,
                            );
                            *now = Action {
                                late: late && action.late,
                                undo_over,
                                ran,
                                arrived,
                                returned,
                                ..*action
                            };
                        }
                        (None, None) => there.actions.push(*action),
                        _ => {}
                    }
                }
            }
            Step::Late(customer, action) => next.customers[customer].actions[action].late = true,
            Step::UndoOver(customer, action) => {
                next.customers[customer].actions[action].undo_over = true
            }
        }
        for action in next
            .customers
            .iter_mut()
            .flat_map(|customer| &mut customer.actions)
        {
            if !matches!(action.state, ActionState::Pending | ActionState::Held) {
                action.ended.get_or_insert(action.state);
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        fn all(world: &World, holds: impl Fn(&Action) -> bool) -> bool {
            world
                .customers
                .iter()
                .flat_map(|customer| &customer.actions)
                .all(holds)
        }
        fn some(world: &World, holds: impl Fn(&Action) -> bool) -> bool {
            world
                .customers
                .iter()
                .flat_map(|customer| &customer.actions)
                .any(holds)
        }
        vec![
            Property::always(
                "it runs once, and only what is confirmed ran",
                |_, world: &World| {
                    all(world, |action| {
                        action.ran == u8::from(action.state == ActionState::Confirmed)
                            && (action.ran == 1) == action.transfer.is_some()
                    })
                },
            ),
            Property::always(
                "what ran arrives once or comes back once, never both",
                |_, world: &World| {
                    all(world, |action| match action.transfer {
                        None | Some(TransferState::Reserved) => {
                            (action.arrived, action.returned) == (0, 0)
                        }
                        Some(TransferState::Posted) => (action.arrived, action.returned) == (1, 0),
                        Some(TransferState::Voided) => {
                            (action.arrived, action.returned) == (0, 1) && !action.leaving
                        }
                    })
                },
            ),
            Property::always("what is over stays as it ended", |_, world: &World| {
                all(world, |action| {
                    action.ended.is_none_or(|ended| ended == action.state)
                })
            }),
            Property::always("money is neither made nor lost", |_, world: &World| {
                world.customers.iter().all(|customer| {
                    let away: u8 = customer
                        .actions
                        .iter()
                        .map(|action| action.ran - action.returned.min(action.ran))
                        .sum();
                    customer.balance.checked_add(away) == Some(FUNDS)
                })
            }),
            Property::always("one at most is open", |_, world: &World| {
                world.customers.iter().all(|customer| {
                    customer
                        .actions
                        .iter()
                        .filter(|action| action.state == ActionState::Pending)
                        .count()
                        <= 1
                })
            }),
            Property::always("nobody else's session does anything", |_, world: &World| {
                world
                    .customers
                    .iter()
                    .all(|customer| !customer.by_a_stranger)
            }),
            Property::sometimes("superseded", |_, world: &World| {
                some(world, |action| action.state == ActionState::Superseded)
            }),
            Property::sometimes("cancelled", |_, world: &World| {
                some(world, |action| action.state == ActionState::Cancelled)
            }),
            Property::sometimes("expired", |_, world: &World| {
                some(world, |action| action.state == ActionState::Expired)
            }),
            Property::sometimes("refused for want of money", |_, world: &World| {
                some(world, |action| action.state == ActionState::Refused)
            }),
            Property::sometimes("held", |_, world: &World| {
                some(world, |action| action.state == ActionState::Held)
            }),
            Property::sometimes("posted", |_, world: &World| {
                some(world, |action| {
                    action.transfer == Some(TransferState::Posted)
                })
            }),
            Property::sometimes("undone", |_, world: &World| {
                some(world, |action| {
                    action.transfer == Some(TransferState::Voided)
                })
            }),
        ]
    }
}

/// The names of the properties that do not hold, and how many states were looked at.
fn check(bank: Bank) -> (Vec<&'static str>, usize) {
    let whole = bank.edges == ACTION_EDGES && bank.lock;
    let finish = if whole {
        HasDiscoveries::All
    } else {
        HasDiscoveries::AnyFailures
    };
    let checker = bank
        .checker()
        .threads(2)
        .finish_when(finish)
        .spawn_bfs()
        .join();
    let found = checker.discoveries();
    let wrong = checker
        .model()
        .properties()
        .into_iter()
        .filter(|property| {
            found.contains_key(property.name)
                == matches!(property.expectation, stateright::Expectation::Always)
        })
        .map(|property| property.name)
        .collect();
    (wrong, checker.unique_state_count())
}

#[test]
fn every_interleaving_under_the_lock_keeps_the_money() {
    let (wrong, states) = check(Bank {
        edges: ACTION_EDGES.to_vec(),
        lock: true,
    });
    println!("{states} states");
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(states > 10_000, "{states} states");
}

#[test]
fn without_the_lock_the_checker_finds_what_breaks() {
    let (wrong, _) = check(Bank {
        edges: ACTION_EDGES.to_vec(),
        lock: false,
    });
    assert!(!wrong.is_empty());
}

#[test]
fn each_wrong_edge_in_the_table_is_found() {
    use ActionState::{Cancelled, Confirmed, Pending, Refused, Superseded};
    // An edge too many: what is over runs after all.
    // (What expired is late, and stays unable to run even then.)
    for over in [Superseded, Cancelled, Refused, Confirmed] {
        let mut edges = ACTION_EDGES.to_vec();
        edges.push((over, ActionAct::Execute, Confirmed));
        let (wrong, _) = check(Bank { edges, lock: true });
        assert!(!wrong.is_empty(), "{over} that runs is not noticed");
    }
    // What ran is taken for cancelled, without its money coming back.
    let mut edges = ACTION_EDGES.to_vec();
    edges.push((Confirmed, ActionAct::Cancel, Cancelled));
    assert!(!check(Bank { edges, lock: true }).0.is_empty());
    // An act that leads elsewhere, and one that is missing.
    for (place, (from, act, _)) in ACTION_EDGES.iter().enumerate() {
        let mut edges = ACTION_EDGES.to_vec();
        edges[place].2 = if *act == ActionAct::Execute {
            Cancelled
        } else {
            Confirmed
        };
        assert!(
            !check(Bank { edges, lock: true }).0.is_empty(),
            "{from} by {act:?} that leads elsewhere is not noticed"
        );
    }
    let mut edges = ACTION_EDGES.to_vec();
    edges.retain(|(from, act, _)| (*from, *act) != (Pending, ActionAct::Supersede));
    assert!(
        !check(Bank { edges, lock: true }).0.is_empty(),
        "a request that replaces nothing"
    );
}
