//! A layer between SQLite and the file system that records what is written, and can run out of space.
//!
//! SQLite takes such a layer only as a table of C functions: this is the one module of the tests with `unsafe` code.
//! It calls what SQLite's own layer does, with the file that layer has opened; that file stands behind ours in the
//! memory that SQLite provides, as `szOsFile` asks for.
#![allow(unsafe_code, reason = "SQLite's interface for file systems is made of C functions and pointers")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs};

/// One of the files of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    Database,
    Journal,
    Log,
    Other,
}

/// Something that happened to a file, or that the test did.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Write {
        file: Kind,
        offset: u64,
        bytes: Vec<u8>,
    },
    Truncate {
        file: Kind,
        size: u64,
    },
    Sync {
        file: Kind,
    },
    /// With `synced` the directory is synced too, so that the name cannot come back.
    Delete {
        file: Kind,
        synced: bool,
    },
    Mark(u32),
}

struct State {
    recording: bool,
    events: Vec<Event>,
    /// Bytes that may still be written.
    space: u64,
}

static STATE: Mutex<State> = Mutex::new(State { recording: false, events: Vec::new(), space: u64::MAX });

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts to record everything that this process writes through SQLite.
pub(crate) fn record() {
    install();
    let mut state = state();
    state.recording = true;
    state.events.clear();
}

/// Notes a point in time.
pub(crate) fn mark(number: u32) {
    state().events.push(Event::Mark(number));
}

/// Stops recording.
pub(crate) fn recorded() -> Vec<Event> {
    let mut state = state();
    state.recording = false;
    std::mem::take(&mut state.events)
}

/// Leaves space for so many bytes more.
pub(crate) fn leave_space(bytes: u64) {
    install();
    state().space = bytes;
}

/// Makes the layer SQLite's default, once.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: SQLite's default layer lives as long as the process, and so does the copy that is leaked here. The
        // functions that are copied use nothing of the structure but what was copied with them.
        unsafe {
            ffi::sqlite3_initialize();
            let real = ffi::sqlite3_vfs_find(ptr::null());
            let mut layer = *real;
            layer.szOsFile += size_of::<File>() as c_int;
            layer.pNext = ptr::null_mut();
            layer.zName = c"recording".as_ptr();
            layer.xOpen = Some(open);
            layer.xDelete = Some(delete);
            let layer = Box::leak(Box::new(layer));
            REAL.lock().unwrap_or_else(PoisonError::into_inner).0 = real;
            assert_eq!(ffi::sqlite3_vfs_register(layer, 1), ffi::SQLITE_OK);
        }
    });
}

struct Layer(*mut sqlite3_vfs);

// SAFETY: SQLite calls its layers from any thread; the pointer itself never changes after `install`.
unsafe impl Send for Layer {}

static REAL: Mutex<Layer> = Mutex::new(Layer(ptr::null_mut()));

fn real() -> *mut sqlite3_vfs {
    REAL.lock().unwrap_or_else(PoisonError::into_inner).0
}

/// Our file; the real one follows it in memory.
#[repr(C, align(8))]
struct File {
    base: sqlite3_file,
    kind: Kind,
}

fn kind_of(flags: c_int) -> Kind {
    match flags {
        _ if flags & ffi::SQLITE_OPEN_MAIN_DB != 0 => Kind::Database,
        _ if flags & ffi::SQLITE_OPEN_MAIN_JOURNAL != 0 => Kind::Journal,
        _ if flags & ffi::SQLITE_OPEN_WAL != 0 => Kind::Log,
        _ => Kind::Other,
    }
}

/// Returns the real file behind ours.
///
/// # Safety
///
/// `file` must be one that [`open`] has filled.
unsafe fn inner(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: SQLite has allocated `szOsFile` bytes, which is our size and the real layer's.
    unsafe { file.cast::<File>().add(1).cast() }
}

unsafe extern "C" fn open(
    _layer: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes memory of `szOsFile` bytes; a file without methods counts as not open.
    unsafe {
        let real = real();
        let ours = file.cast::<File>();
        (*ours).base.pMethods = ptr::null();
        (*ours).kind = kind_of(flags);
        let Some(open) = (*real).xOpen else { return ffi::SQLITE_CANTOPEN };
        let inner = inner(file);
        let code = open(real, name, inner, flags, out);
        if !(*inner).pMethods.is_null() {
            (*ours).base.pMethods = &METHODS;
        }
        code
    }
}

unsafe extern "C" fn delete(_layer: *mut sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    // SAFETY: SQLite passes a string that ends with NUL, and `real` is its own layer.
    unsafe {
        let path = CStr::from_ptr(name).to_bytes();
        let file = match path {
            _ if path.ends_with(b"-journal") => Kind::Journal,
            _ if path.ends_with(b"-wal") => Kind::Log,
            _ => Kind::Other,
        };
        let real = real();
        let code = (*real).xDelete.map_or(ffi::SQLITE_IOERR_DELETE, |delete| delete(real, name, sync));
        let mut state = state();
        if state.recording && code == ffi::SQLITE_OK {
            state.events.push(Event::Delete { file, synced: sync != 0 });
        }
        code
    }
}

/// Defines functions that only call what the real file has under the same name.
macro_rules! forward {
    ($($name:ident: $method:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(unsafe extern "C" fn $name(file: *mut sqlite3_file, $($argument: $type),*) -> $result {
            // SAFETY: the file was opened by `open`; the real layer has every method of version 3.
            unsafe {
                let inner = inner(file);
                let method = (*(*inner).pMethods).$method.expect("a method of SQLite's own layer");
                method(inner, $($argument),*)
            }
        })*
    };
}

forward! {
    close: xClose() -> c_int;
    read: xRead(buffer: *mut c_void, length: c_int, offset: sqlite3_int64) -> c_int;
    forward_write: xWrite(buffer: *const c_void, length: c_int, offset: sqlite3_int64) -> c_int;
    forward_truncate: xTruncate(size: sqlite3_int64) -> c_int;
    forward_sync: xSync(flags: c_int) -> c_int;
    file_size: xFileSize(size: *mut sqlite3_int64) -> c_int;
    lock: xLock(level: c_int) -> c_int;
    unlock: xUnlock(level: c_int) -> c_int;
    check_reserved_lock: xCheckReservedLock(result: *mut c_int) -> c_int;
    file_control: xFileControl(operation: c_int, argument: *mut c_void) -> c_int;
    sector_size: xSectorSize() -> c_int;
    device_characteristics: xDeviceCharacteristics() -> c_int;
    shm_map: xShmMap(page: c_int, size: c_int, extend: c_int, memory: *mut *mut c_void) -> c_int;
    shm_lock: xShmLock(offset: c_int, count: c_int, flags: c_int) -> c_int;
    shm_barrier: xShmBarrier() -> ();
    shm_unmap: xShmUnmap(delete: c_int) -> c_int;
    fetch: xFetch(offset: sqlite3_int64, length: c_int, memory: *mut *mut c_void) -> c_int;
    unfetch: xUnfetch(offset: sqlite3_int64, memory: *mut c_void) -> c_int;
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 3,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: Some(fetch),
    xUnfetch: Some(unfetch),
};

/// Records what was done, if it was.
///
/// # Safety
///
/// `file` must be one that [`open`] has filled.
unsafe fn note(file: *mut sqlite3_file, code: c_int, event: impl FnOnce(Kind) -> Event) -> c_int {
    let mut state = state();
    if state.recording && code == ffi::SQLITE_OK {
        // SAFETY: as the caller promises.
        let kind = unsafe { (*file.cast::<File>()).kind };
        state.events.push(event(kind));
    }
    code
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    buffer: *const c_void,
    length: c_int,
    offset: sqlite3_int64,
) -> c_int {
    let bytes = u64::from(length.unsigned_abs());
    let mut left = state();
    if left.space < bytes {
        return ffi::SQLITE_FULL;
    }
    left.space -= bytes;
    drop(left);
    // SAFETY: SQLite passes `length` bytes at `buffer`, and a file that `open` has filled.
    unsafe {
        let code = forward_write(file, buffer, length, offset);
        let bytes =
            || std::slice::from_raw_parts(buffer.cast::<u8>(), length.unsigned_abs() as usize).to_vec();
        note(file, code, |file| Event::Write { file, offset: offset.unsigned_abs(), bytes: bytes() })
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    // SAFETY: SQLite passes a file that `open` has filled.
    unsafe {
        let code = forward_truncate(file, size);
        note(file, code, |file| Event::Truncate { file, size: size.unsigned_abs() })
    }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: SQLite passes a file that `open` has filled.
    unsafe {
        let code = forward_sync(file, flags);
        note(file, code, |file| Event::Sync { file })
    }
}
