//! Reading ahead, on a connection and a thread of its own, while the levels of the web are counted.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, Scope};

use store::{CertId, MOST_READERS, Snapshot};
use trust::pgp::Certifier;

use super::asked::Asked;
use super::proven::{Touched, join};
use crate::Result;
use crate::validity::TrustSettings;

/// So many keys are read at once: so few that no other thread is started for them, and that nobody waits for long.
const PART: usize = 32;

/// What keys certified that nobody trusts.
#[derive(Default)]
pub(super) struct Light {
    pub(super) touched: Touched,
    /// Certificates of which not everything is proven that was asked for, in no order, and several times.
    pub(super) open: Vec<CertId>,
}

impl Light {
    /// Adds what those who are asked about certified.
    pub(super) fn read(
        &mut self,
        asked: &Asked,
        source: &dyn Snapshot,
        settings: &TrustSettings,
    ) -> Result<()> {
        let mut parts: [Self; MOST_READERS] = Default::default();
        asked.visit_certified(source, &mut parts, &|part, id, _, proven| match proven {
            Some(proven) => part.touched.add(id, proven, settings),
            None => part.open.push(id),
        })?;
        for part in parts {
            self.append(part);
        }
        Ok(())
    }

    fn append(&mut self, other: Self) {
        self.touched.append(other.touched);
        join(&mut self.open, other.open);
    }

    /// Reads what is to be read, until there will be nothing any more; returns it in order.
    fn read_all(plan: &Plan, source: &dyn Snapshot, settings: &TrustSettings) -> Result<Self> {
        let mut light = Self::default();
        while let Some(part) = plan.next() {
            light.read(&Asked::new(&part, true), source, settings)?;
        }
        light.touched.finish();
        Ok(light)
    }
}

/// A thread that reads what is to be asked for in the end.
pub(super) struct Ahead {
    plan: Arc<Plan>,
    light: Receiver<Result<Light>>,
    /// Without it there are threads enough for all cores.
    is_one_too_many: bool,
}

/// What is to be read, and when.
#[derive(Default)]
struct Plan {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    parts: VecDeque<Vec<Certifier>>,
    /// All cores have something better to do.
    waits: bool,
    /// Nothing will be added any more.
    ended: bool,
}

impl Plan {
    /// Waits for the next keys whose certifications are to be read; `None` in the end.
    fn next(&self) -> Option<Vec<Certifier>> {
        let has_to_wait = |state: &mut State| !state.ended && (state.waits || state.parts.is_empty());
        let state = self.changed.wait_while(self.state(), has_to_wait);
        state.unwrap_or_else(PoisonError::into_inner).parts.pop_front()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ahead {
    /// Starts the thread; `None` where none can be made.
    pub(super) fn begin<'s>(
        scope: &'s Scope<'s, '_>,
        source: Box<dyn Snapshot + Send + 's>,
        settings: &'s TrustSettings,
    ) -> Option<Self> {
        let plan = Arc::new(Plan::default());
        let (sender, light) = mpsc::channel();
        let shared = Arc::clone(&plan);
        let read = move || {
            // Nobody waits for it where something else went wrong.
            let _ = sender.send(Light::read_all(&shared, &*source, settings));
        };
        Builder::new().spawn_scoped(scope, read).ok()?;
        let is_one_too_many = thread::available_parallelism().is_ok_and(|cores| cores.get() <= MOST_READERS);
        Some(Self { plan, light, is_one_too_many })
    }

    /// Has what these keys certified read, none of which was named before.
    pub(super) fn read(&self, keys: &[Certifier]) {
        let mut keys = keys.to_vec();
        // An index is read quickest in its order.
        keys.sort_unstable_by_key(|certifier| certifier.key.key_id());
        self.plan.change(|state| state.parts.extend(keys.chunks(PART).map(<[_]>::to_vec)));
    }

    /// Does something that has a thread for each core; the one that reads ahead waits meanwhile.
    pub(super) fn give_way<T>(&self, work: impl FnOnce() -> T) -> T {
        self.plan.change(|state| state.waits = self.is_one_too_many);
        let outcome = work();
        self.plan.change(|state| state.waits = false);
        outcome
    }

    /// Helps to read what is left, and returns what was read; `None` if the thread panicked, as its scope will.
    pub(super) fn finish(self, source: &dyn Snapshot, settings: &TrustSettings) -> Option<Result<Light>> {
        self.plan.change(|state| state.ended = true);
        let own = Light::read_all(&self.plan, source, settings);
        let others = self.light.recv().ok()?;
        Some(own.and_then(|own| {
            let mut light = others?;
            light.append(own);
            Ok(light)
        }))
    }
}

impl Drop for Ahead {
    /// The thread ends, whatever there was to be read.
    fn drop(&mut self) {
        self.plan.change(|state| {
            state.parts.clear();
            state.ended = true;
        });
    }
}
