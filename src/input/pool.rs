//! Chunks of many inputs read and decoded by several threads, each input's handed over in its order.
//!
//! A *lane* is one input. Whoever is free takes the next lane that wants a chunk, reads it under that lane's turn and
//! decodes it outside; results wait by number. The thread that merges helps in the same way instead of waiting, so
//! `-j 1` is the same code without threads and `-j 2` keeps both busy whichever stage is the slower. Pipes have a
//! thread each that reads them, since such a read may wait for ever.
//!
//! Decoding is speculative: a chunk is decoded with the layout known when it was read. If an earlier chunk turns out
//! to change the layout, the merging thread decodes the later one again (see [`Pool::take`]).

use super::bytes::{self, Chunker};
use super::columns::{ColumnChunk, ColumnReader};
use crate::error::{Error, Result};
use crate::format::{Before, Decoded, Derive, TextDecoder};
use crate::plan::InputPath;
use crate::schema::Layout;
use crate::signals;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Regular files open at a time; further ones are closed and opened again where they were left.
pub(super) const MAX_OPEN: usize = 64;

/// How often a waiting thread looks whether it was told to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// How one input is read on.
pub(super) enum Reader {
    /// Records framed in bytes.
    Text(Chunker),
    /// Columns with a directory.
    Columns(ColumnReader),
}

/// What a read gives: enough to decode it, and decode it again.
#[derive(Clone)]
pub(super) enum Chunk {
    Text(Arc<Vec<u8>>),
    Columns(ColumnChunk),
}

/// How a lane's chunks become columns.
#[derive(Clone)]
pub(super) enum Decoding {
    Text(Arc<dyn TextDecoder>),
    Columns(Arc<super::columns::Columns>),
}

/// How a lane's chunks become rows: decoded, and the job's columns computed.
#[derive(Clone)]
pub(super) struct Work {
    pub(super) decoding: Decoding,
    pub(super) derive: Option<Arc<dyn Derive>>,
}

impl Work {
    /// All that can be done without knowing what stands before the chunk.
    fn ahead(&self, chunk: &Chunk, layout: &Layout) -> Result<Decoded> {
        let decoded = self.decoding.decode(chunk, layout)?;
        match &self.derive {
            Some(derive) if !derive.needs_places() => self.derive(&**derive, decoded, chunk, layout, Before::default()),
            _ => Ok(decoded),
        }
    }

    /// The rest, once that is known.
    fn behind(&self, decoded: Decoded, chunk: &Chunk, layout: &Layout, before: Before) -> Result<Decoded> {
        match &self.derive {
            Some(derive) if derive.needs_places() => self.derive(&**derive, decoded, chunk, layout, before),
            _ => Ok(decoded),
        }
    }

    /// Where a record fails, the chunk is decoded again with the records as they stood.
    fn derive(
        &self,
        derive: &dyn Derive,
        decoded: Decoded,
        chunk: &Chunk,
        layout: &Layout,
        before: Before,
    ) -> Result<Decoded> {
        if let Some(derived) = derive.derive(decoded, layout, before)? {
            return Ok(derived);
        }
        let raw = Layout { keep_raw: true, ..layout.clone() };
        let decoded = self.decoding.decode(chunk, &raw)?;
        let derived = derive.derive(decoded, &raw, before)?;
        let mut derived = derived.ok_or_else(|| Error::failed("records that failed cannot be set aside"))?;
        if let Some(after) = &mut derived.layout {
            Arc::make_mut(after).keep_raw = layout.keep_raw;
        }
        Ok(derived)
    }
}

impl Decoding {
    fn decode(&self, chunk: &Chunk, layout: &Layout) -> Result<Decoded> {
        match (self, chunk) {
            (Decoding::Text(decoder), Chunk::Text(bytes)) => Ok(decoder.decode(Arc::clone(bytes), layout)),
            (Decoding::Columns(columns), Chunk::Columns(chunk)) => columns.decode(chunk, layout),
            _ => Err(Error::failed("a chunk of one format met the decoder of another")),
        }
    }
}

/// A lane as it enters the pool.
pub(super) struct Lane {
    pub(super) path: InputPath,
    pub(super) reader: Reader,
    pub(super) work: Work,
    pub(super) layout: Arc<Layout>,
    /// A pipe or device: read by a thread of its own.
    pub(super) stream: bool,
}

/// A decoded chunk of one lane, in its turn.
pub(super) struct Piece {
    pub(super) chunk: Chunk,
    pub(super) decoded: Decoded,
}

/// What came of asking for a piece.
pub(super) enum Taken {
    Piece(Piece),
    /// The lane has ended.
    End,
    /// There was none until the deadline.
    Nothing,
}

/// What came of waiting for a result.
enum Waited {
    Result(Result<(Chunk, Arc<Layout>, Decoded)>),
    End,
    InVain,
}

/// What everybody may look at while the run goes on.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Bytes read so far, before decompression.
    pub read: Arc<AtomicU64>,
}

struct LaneState {
    path: InputPath,
    reader: Option<Reader>,
    work: Work,
    layout: Arc<Layout>,
    stream: bool,
    /// Chunks that may be read beyond those in flight.
    want: usize,
    queued: bool,
    /// Chunks that may be in flight now: one until the merge has come to this lane.
    depth: usize,
    /// Chunks that may be in flight once it has.
    full_depth: usize,
    next_read: u64,
    next_take: u64,
    ended: bool,
    last_used: u64,
    results: BTreeMap<u64, Result<(Chunk, Arc<Layout>, Decoded)>>,
}

enum Task {
    Read(usize),
    Decode { lane: usize, number: u64, chunk: Chunk },
}

struct State {
    lanes: Vec<LaneState>,
    tasks: VecDeque<Task>,
    closing: bool,
    clock: u64,
}

struct Shared {
    state: Mutex<State>,
    /// Something to do, or to take.
    news: Condvar,
    chunk_size: usize,
    failed: AtomicBool,
}

/// The lanes and the threads that serve them.
pub struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// Lanes served by `threads` threads, the caller's among them.
    pub(super) fn new(lanes: Vec<Lane>, threads: usize, chunk_size: usize) -> Result<Self> {
        let streams: Vec<usize> = (0..lanes.len()).filter(|&i| lanes[i].stream).collect();
        // A piece of columns is a whole row group, of which many would fill the memory.
        let depth = |lane: &Lane| match lane.reader {
            Reader::Text(_) if lanes.len() <= 4 => threads + 2,
            Reader::Columns(_) if lanes.len() <= 4 => threads.max(2) - 1,
            Reader::Text(_) | Reader::Columns(_) => 2,
        };
        let depths: Vec<usize> = lanes.iter().map(depth).collect();
        let state = State {
            lanes: lanes.into_iter().zip(depths).map(|(lane, depth)| LaneState::new(lane, depth)).collect(),
            tasks: VecDeque::new(),
            closing: false,
            clock: 0,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            news: Condvar::new(),
            chunk_size,
            failed: AtomicBool::new(false),
        });
        let mut handles = Vec::new();
        for _ in 1..threads {
            let shared = Arc::clone(&shared);
            // Where no more threads can be had, those there are do the work.
            handles.extend(Builder::new().spawn(move || shared.serve()));
        }
        for lane in streams {
            let shared = Arc::clone(&shared);
            // Never joined: it may wait in a read for ever.
            let reader = Builder::new().spawn(move || shared.serve_stream(lane));
            reader.map_err(|e| Error::io("cannot start a thread to read a pipe", &e))?;
        }
        Ok(Self { shared, threads: handles })
    }

    /// The next piece of a lane in its order. `layout` is the lane's layout as of now; a piece that was decoded with
    /// another is decoded again. Helps with whatever there is to do meanwhile.
    pub(super) fn take(
        &mut self,
        lane: usize,
        layout: &Arc<Layout>,
        before: Before,
        deadline: Option<Instant>,
    ) -> Result<Taken> {
        let result = match self.wait_for(lane, deadline)? {
            Waited::Result(result) => result,
            Waited::End => return Ok(Taken::End),
            Waited::InVain => return Ok(Taken::Nothing),
        };
        let named = |error: Error| error.at(bytes::name(&self.shared.lock().lanes[lane].path));
        let (chunk, used, decoded) = result.map_err(named)?;
        if !Arc::ptr_eq(&used, layout) {
            let decoded = self.decode(lane, &chunk, layout, before)?;
            return Ok(Taken::Piece(Piece { chunk, decoded }));
        }
        let work = self.shared.lock().lanes[lane].work.clone();
        let decoded = work.behind(decoded, &chunk, layout, before)?;
        Ok(Taken::Piece(Piece { chunk, decoded }))
    }

    /// Decodes a chunk of a lane again.
    pub(super) fn decode(&self, lane: usize, chunk: &Chunk, layout: &Layout, before: Before) -> Result<Decoded> {
        let work = self.shared.lock().lanes[lane].work.clone();
        work.behind(work.ahead(chunk, layout)?, chunk, layout, before)
    }

    /// Chunks of this lane that are read from now on are decoded with this layout.
    pub(super) fn set_layout(&self, lane: usize, layout: Arc<Layout>) {
        self.shared.lock().lanes[lane].layout = layout;
    }

    fn wait_for(&mut self, lane: usize, deadline: Option<Instant>) -> Result<Waited> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock();
        loop {
            signals::check()?;
            if shared.failed.load(Ordering::Relaxed) {
                return Err(
                    Error::failed("a thread ended unexpectedly").hint("this is a bug in windrow: please report it")
                );
            }
            if let Some(found) = state.lanes[lane].take_result() {
                state.lanes[lane].depth = state.lanes[lane].full_depth;
                shared.demand(&mut state, lane);
                return Ok(Waited::Result(found));
            }
            if state.lanes[lane].is_done() {
                return Ok(Waited::End);
            }
            shared.demand(&mut state, lane);
            state = match state.tasks.pop_front() {
                Some(task) => {
                    drop(state);
                    shared.work(task);
                    shared.lock()
                }
                None => {
                    let patience = deadline.map_or(PATIENCE, |at| at.saturating_duration_since(Instant::now()));
                    if patience.is_zero() {
                        return Ok(Waited::InVain);
                    }
                    let patience = patience.min(PATIENCE);
                    shared.news.wait_timeout(state, patience).map_or_else(|e| e.into_inner().0, |(s, _)| s)
                }
            };
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.news.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so through `failed`.
            drop(thread.join());
        }
    }
}

impl LaneState {
    fn new(lane: Lane, depth: usize) -> Self {
        // A row group is some fifty times as large as a chunk of text.
        let full_depth = if matches!(lane.reader, Reader::Columns(_)) { depth.min(2) } else { depth };
        Self {
            full_depth,
            path: lane.path,
            reader: Some(lane.reader),
            work: lane.work,
            layout: lane.layout,
            stream: lane.stream,
            want: 0,
            queued: false,
            depth: 1,
            next_read: 0,
            next_take: 0,
            ended: false,
            last_used: 0,
            results: BTreeMap::new(),
        }
    }

    fn take_result(&mut self) -> Option<Result<(Chunk, Arc<Layout>, Decoded)>> {
        let result = self.results.remove(&self.next_take)?;
        self.next_take += 1;
        Some(result)
    }

    fn is_done(&self) -> bool {
        self.ended && self.next_take == self.next_read
    }

    fn in_flight(&self) -> usize {
        (self.next_read - self.next_take) as usize
    }
}

impl Reader {
    fn is_open(&self) -> bool {
        match self {
            Reader::Text(chunker) => chunker.is_open(),
            Reader::Columns(_) => true,
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere is reported through `failed`; the state itself is consistent between any two statements.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a lane be read as far ahead as its depth allows.
    fn demand(&self, state: &mut State, lane: usize) {
        let state_lane = &mut state.lanes[lane];
        state_lane.want = state_lane.depth.saturating_sub(state_lane.in_flight());
        let idle = state_lane.reader.is_some() && !state_lane.queued && !state_lane.ended;
        if idle && state_lane.want > 0 {
            state_lane.queued = true;
            if !state_lane.stream {
                state.tasks.push_back(Task::Read(lane));
            }
            self.news.notify_all();
        }
    }

    /// A worker's life.
    fn serve(&self) {
        let _guard = FailGuard(&self.failed, &self.news);
        let mut state = self.lock();
        while !state.closing {
            state = match state.tasks.pop_front() {
                Some(task) => {
                    drop(state);
                    self.work(task);
                    self.lock()
                }
                None => self.news.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Reads one pipe for as long as it is wanted.
    fn serve_stream(&self, lane: usize) {
        let _guard = FailGuard(&self.failed, &self.news);
        let mut state = self.lock();
        while !state.closing && !state.lanes[lane].ended {
            if !state.lanes[lane].queued {
                state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            drop(state);
            let read = self.read(lane);
            state = self.lock();
            if let Some((number, chunk)) = read {
                state.tasks.push_back(Task::Decode { lane, number, chunk });
                self.news.notify_all();
            }
        }
    }

    fn work(&self, task: Task) {
        let (lane, number, chunk) = match task {
            Task::Decode { lane, number, chunk } => (lane, number, chunk),
            Task::Read(lane) => match self.read(lane) {
                Some((number, chunk)) => (lane, number, chunk),
                None => return,
            },
        };
        let (work, layout) = {
            let state = self.lock();
            (state.lanes[lane].work.clone(), Arc::clone(&state.lanes[lane].layout))
        };
        let decoded = work.ahead(&chunk, &layout).map(|decoded| (chunk, layout, decoded));
        self.lock().lanes[lane].results.insert(number, decoded);
        self.news.notify_all();
    }

    /// Reads a lane's next chunk and gives it its number. None at the end, or when reading failed (which is a result
    /// of its own).
    fn read(&self, lane: usize) -> Option<(u64, Chunk)> {
        let (mut reader, path) = self.borrow_reader(lane)?;
        let read = self.next_chunk(&mut reader, &path);
        let mut state = self.lock();
        let ended = !matches!(read, Ok(Some(_)));
        if let (true, Reader::Text(chunker)) = (ended, &mut reader) {
            chunker.close();
        }
        let number = state.lanes[lane].next_read;
        state.lanes[lane].reader = Some(reader);
        state.lanes[lane].queued = false;
        state.lanes[lane].ended = ended;
        self.close_one(&mut state, lane);
        match read {
            Ok(Some(chunk)) => {
                state.lanes[lane].next_read += 1;
                self.demand(&mut state, lane);
                Some((number, chunk))
            }
            Ok(None) => {
                self.news.notify_all();
                None
            }
            Err(error) => {
                state.lanes[lane].next_read += 1;
                state.lanes[lane].results.insert(number, Err(error));
                self.news.notify_all();
                None
            }
        }
    }

    fn borrow_reader(&self, lane: usize) -> Option<(Reader, InputPath)> {
        let mut state = self.lock();
        state.clock += 1;
        let now = state.clock;
        state.lanes[lane].last_used = now;
        let reader = state.lanes[lane].reader.take()?;
        Some((reader, state.lanes[lane].path.clone()))
    }

    fn next_chunk(&self, reader: &mut Reader, path: &InputPath) -> Result<Option<Chunk>> {
        match reader {
            Reader::Text(chunker) => {
                if !chunker.is_open() {
                    chunker.reopen(path)?;
                }
                Ok(chunker.next(self.chunk_size)?.map(|bytes| Chunk::Text(Arc::new(bytes))))
            }
            Reader::Columns(columns) => Ok(columns.next().map(Chunk::Columns)),
        }
    }

    /// Closes the file that was used longest ago when too many are open.
    fn close_one(&self, state: &mut State, but: usize) {
        if state.lanes.len() <= MAX_OPEN {
            return;
        }
        let open = |lane: &LaneState| !lane.stream && lane.reader.as_ref().is_some_and(Reader::is_open);
        let candidates = state.lanes.iter().enumerate().filter(|(i, lane)| *i != but && open(lane));
        let all: Vec<(u64, usize)> = candidates.map(|(i, lane)| (lane.last_used, i)).collect();
        if all.len() >= MAX_OPEN
            && let Some(&(_, oldest)) = all.iter().min()
            && let Some(Reader::Text(chunker)) = &mut state.lanes[oldest].reader
        {
            chunker.close();
        }
    }
}

/// Tells the merging thread when a worker ends by a panic, so that it does not wait for ever.
struct FailGuard<'a>(&'a AtomicBool, &'a Condvar);

impl Drop for FailGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
            self.1.notify_all();
        }
    }
}
