//! The slots that a replica claims or gives away, from what it sees of the others.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::slot::Slot;

/// Members and slots, as one list of the Leases shows them.
#[derive(Debug, Default)]
pub(super) struct View {
    /// The holder of each slot; `None` if nobody holds it, or the holder is no member.
    pub holders: BTreeMap<Slot, Option<String>>,
    /// The members that are alive, with this replica.
    pub members: Vec<String>,
}

/// The next changes of a replica.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Changes {
    pub claim: Vec<Slot>,
    pub give: Vec<Slot>,
}

impl View {
    /// The changes that give `me` its share: slots divided by members, and one more for those who hold most if there is
    /// a remainder. All replicas come to the same shares if they see the same.
    pub fn changes(&self, me: &str) -> Changes {
        let held = |member: &str| self.holders.values().filter(|holder| holder.as_deref() == Some(member)).count();
        let mut members: Vec<(Reverse<usize>, &str)> =
            self.members.iter().map(|member| (Reverse(held(member)), member.as_str())).collect();
        members.sort_unstable();
        let Some(rank) = members.iter().position(|(_, member)| *member == me) else {
            return Changes::default();
        };
        let (least, remainder) = (self.holders.len() / members.len(), self.holders.len() % members.len());
        let share = least + usize::from(rank < remainder);
        let mine: Vec<Slot> =
            self.holders.iter().filter(|(_, holder)| holder.as_deref() == Some(me)).map(|(slot, _)| *slot).collect();
        let mut free: Vec<Slot> =
            self.holders.iter().filter(|(_, holder)| holder.is_none()).map(|(slot, _)| *slot).collect();
        // Replicas begin at different slots, so that they seldom claim the same one.
        let start = free.len() * rank / members.len();
        free.rotate_left(start);
        free.truncate(share.saturating_sub(mine.len()));
        // The holder of slot 0 is the leader, and stays it.
        let give = mine.iter().rev().copied().filter(|slot| *slot != 0);
        Changes { claim: free, give: give.take(mine.len().saturating_sub(share)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Group {
        holders: BTreeMap<Slot, Option<String>>,
        members: Vec<String>,
        moves: usize,
    }

    impl Group {
        fn of(slots: Slot) -> Self {
            Self { holders: (0..slots).map(|slot| (slot, None)).collect(), members: Vec::new(), moves: 0 }
        }

        fn view(&self) -> View {
            let is_member = |holder: &String| self.members.contains(holder);
            let holders = self.holders.iter().map(|(slot, holder)| (*slot, holder.clone().filter(is_member))).collect();
            View { holders, members: self.members.clone() }
        }

        /// Lets each member act on what it sees, until nobody has anything to do.
        fn settle(&mut self, members: &[&str]) -> Vec<usize> {
            self.members = members.iter().map(|name| (*name).to_owned()).collect();
            self.moves = 0;
            for _ in 0..20 {
                let mut is_settled = true;
                for me in members {
                    let Changes { claim, give } = self.view().changes(me);
                    is_settled &= claim.is_empty() && give.is_empty();
                    for slot in claim {
                        let holder = self.view().holders[&slot].clone();
                        assert_eq!(holder, None, "{me} claims slot {slot}, which is held");
                        self.holders.insert(slot, Some((*me).to_owned()));
                        self.moves += 1;
                    }
                    for slot in give {
                        assert_eq!(self.holders.insert(slot, None), Some(Some((*me).to_owned())));
                    }
                }
                if is_settled {
                    assert!(self.view().holders.values().all(Option::is_some), "a slot without holder");
                    return members.iter().map(|me| self.held(me)).collect();
                }
            }
            panic!("it never settles: {:?}", self.holders);
        }

        fn held(&self, member: &str) -> usize {
            self.holders.values().filter(|holder| holder.as_deref() == Some(member)).count()
        }
    }

    #[test]
    fn every_number_of_members_gets_equal_shares_and_few_slots_move() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        for slots in [2, 8, 64, 256] {
            let mut group = Group::of(slots);
            let steps: Vec<usize> = (1..=10).chain((1..10).rev()).collect();
            for (at, members) in steps.iter().enumerate() {
                let mut shares = group.settle(&names[..*members]);
                shares.sort_unstable();
                let (least, most) = (shares[0], shares[members - 1]);
                assert!(most - least <= 1, "{slots} slots: {shares:?}");
                // A new member gets its share, and that of a gone one is divided: nothing else moves.
                let before = if at == 0 { 0 } else { steps[at - 1] };
                let share = usize::from(slots).div_ceil((*members).max(before).min(usize::from(slots)));
                let most_moves = if at == 0 { usize::from(slots) } else { share };
                assert!(group.moves <= most_moves, "{slots} slots, {before} → {members}: {} moves", group.moves);
            }
        }
    }

    #[test]
    fn the_leader_keeps_slot_0() {
        let mut group = Group::of(8);
        group.settle(&["z"]);
        group.settle(&["a", "b", "c", "z"]);
        assert_eq!(group.holders[&0].as_deref(), Some("z"));
        group.settle(&["a", "b", "c"]);
        assert_ne!(group.holders[&0].as_deref(), Some("z"));
    }

    #[test]
    fn a_replica_that_is_no_member_does_nothing() {
        let mut group = Group::of(4);
        group.settle(&["a"]);
        assert_eq!(group.view().changes("b"), Changes::default());
    }
}
