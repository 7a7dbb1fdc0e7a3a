//! Result rows on their way out: cut at the row limit, encoded, gathered and written, on a thread of their own if
//! there is one to spare.
//!
//! Must not know which format it is or where the rows come from. Errors of the thread come back at the next call, or
//! at the latest when the output is prepared.

use super::buffer::{Buffer, LARGE};
use super::{Commit, Opened};
use crate::error::{Error, Result};
use crate::format::Encoder;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Batches that may wait for the thread; bounds memory when the reader is slow.
const WAITING: usize = 4;

/// Takes result batches to their output.
pub struct ResultWriter {
    hand: Hand,
    rows: u64,
    limit: Option<u64>,
    failed: Option<Error>,
}

/// Who writes.
enum Hand {
    Own(Pen),
    Thread(Writer),
    /// It failed.
    Gone,
}

impl ResultWriter {
    /// A writer of at most `limit` rows; `threaded`: encode and write beside the caller.
    pub fn new(encoder: Box<dyn Encoder>, opened: Opened, limit: Option<u64>, threaded: bool) -> Result<Self> {
        let pen = Pen { encoder, name: opened.name.clone(), seen: opened.seen, buffer: Buffer::new(opened, LARGE) };
        let hand = if threaded { Hand::Thread(Writer::start(pen)?) } else { Hand::Own(pen) };
        Ok(Self { hand, rows: 0, limit, failed: None })
    }

    /// Writes the rows that the limit leaves room for.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let room = self.limit.map_or(u64::MAX, |limit| limit - self.rows);
        let rows = batch.num_rows().min(usize::try_from(room).unwrap_or(usize::MAX));
        if rows == 0 {
            return Ok(());
        }
        self.give(Order::Rows(batch.slice(0, rows)))?;
        self.rows += rows as u64;
        Ok(())
    }

    /// Lets a reader see all rows so far; does nothing for a file that appears at the end.
    pub fn flush(&mut self) -> Result<()> {
        self.give(Order::Flush)
    }

    /// Batches have another schema from here on.
    pub fn schema_changed(&mut self, schema: &SchemaRef) -> Result<()> {
        self.give(Order::Schema(schema.clone()))
    }

    /// Rows taken so far.
    pub fn rows_written(&self) -> u64 {
        self.rows
    }

    /// Whether the limit is reached, so that nothing more will be written.
    pub fn is_full(&self) -> bool {
        self.limit.is_some_and(|limit| self.rows >= limit)
    }

    fn give(&mut self, order: Order) -> Result<()> {
        let done = match &mut self.hand {
            Hand::Own(pen) => pen.obey(order),
            Hand::Thread(writer) if writer.take(order) => Ok(()),
            Hand::Thread(_) => self.bring_home().map(drop),
            Hand::Gone => return Err(given_up(&self.failed)),
        };
        done.map_err(|error| self.give_up(error))
    }

    /// The pen, when the thread (if any) has obeyed all orders.
    fn bring_home(&mut self) -> Result<&mut Pen> {
        self.hand = match std::mem::replace(&mut self.hand, Hand::Gone) {
            Hand::Thread(writer) => Hand::Own(writer.join()?),
            hand => hand,
        };
        match &mut self.hand {
            Hand::Own(pen) => Ok(pen),
            Hand::Thread(_) | Hand::Gone => Err(given_up(&self.failed)),
        }
    }

    /// Remembers an error and drops what was written.
    fn give_up(&mut self, error: Error) -> Error {
        self.hand = Hand::Gone;
        self.failed.get_or_insert(error).clone()
    }
}

/// What to say to a caller that goes on after an error.
fn given_up(failed: &Option<Error>) -> Error {
    failed.clone().unwrap_or_else(|| Error::failed("the output was given up"))
}

impl Commit for ResultWriter {
    fn prepare(&mut self) -> Result<()> {
        let done = self.bring_home().and_then(Pen::finish);
        done.map_err(|error| self.give_up(error))
    }

    fn commit(&mut self) -> Result<()> {
        self.bring_home()?.buffer.commit()
    }
}

/// Encodes into a buffer in front of the sink.
struct Pen {
    encoder: Box<dyn Encoder>,
    buffer: Buffer,
    seen: bool,
    name: String,
}

/// What there is to do.
enum Order {
    Rows(RecordBatch),
    Schema(SchemaRef),
    Flush,
}

impl Pen {
    fn obey(&mut self, order: Order) -> Result<()> {
        match order {
            Order::Rows(batch) => self.encode(|encoder, out| encoder.write(&batch, out)),
            Order::Schema(schema) => self.encode(|encoder, _| encoder.schema_changed(&schema)),
            Order::Flush => {
                self.encode(|encoder, out| encoder.flush(out))?;
                self.buffer.flush()
            }
        }
    }

    fn finish(&mut self) -> Result<()> {
        self.encode(|encoder, out| encoder.finish(out))?;
        self.buffer.prepare()
    }

    fn encode(&mut self, step: impl FnOnce(&mut dyn Encoder, &mut Vec<u8>) -> Result<()>) -> Result<()> {
        step(&mut *self.encoder, self.buffer.bytes()).map_err(|error| error.at(&self.name))?;
        self.buffer.settle()
    }
}

/// The thread that holds the pen.
struct Writer {
    /// None once no more orders will come.
    orders: Option<SyncSender<Order>>,
    thread: Option<JoinHandle<Result<Pen>>>,
    /// Orders still waiting are void.
    stop: Arc<AtomicBool>,
    /// Whether the output is a pipe or a device, which may block for ever and leaves nothing to be removed.
    seen: bool,
}

impl Writer {
    fn start(pen: Pen) -> Result<Self> {
        let (orders, taken) = sync_channel(WAITING);
        let (stop, seen) = (Arc::new(AtomicBool::new(false)), pen.seen);
        let stopped = stop.clone();
        let thread = std::thread::Builder::new().spawn(move || obey_all(pen, &taken, &stopped));
        let thread = thread.map_err(|e| Error::io("cannot start a thread to write", &e).hint("-j 1 needs none"))?;
        Ok(Self { orders: Some(orders), thread: Some(thread), stop, seen })
    }

    /// Hands over an order; false when the thread has failed.
    fn take(&self, order: Order) -> bool {
        self.orders.as_ref().is_some_and(|orders| orders.send(order).is_ok())
    }

    /// Waits until all orders are obeyed.
    fn join(mut self) -> Result<Pen> {
        self.orders = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(pen)) => pen,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Err(given_up(&None)),
        }
    }
}

fn obey_all(mut pen: Pen, orders: &Receiver<Order>, stop: &AtomicBool) -> Result<Pen> {
    for order in orders {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        pen.obey(order)?;
    }
    Ok(pen)
}

/// A run that stops early: the hidden file must be gone before the process is.
impl Drop for Writer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.orders = None;
        if let Some(thread) = self.thread.take()
            && !self.seen
        {
            // Its result is of no interest to a run that has already failed, and neither is a panic.
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::output::{Sink, open};
    use arrow::array::{ArrayRef, AsArray, Int64Array};
    use arrow::datatypes::{DataType, Field, Int64Type, Schema};
    use std::fs;
    use std::path::Path;

    /// One number a line; refuses to change its schema.
    struct Lines;

    impl Encoder for Lines {
        fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
            let values = batch.column(0).as_primitive::<Int64Type>().values();
            values.iter().for_each(|value| out.extend_from_slice(format!("{value}\n").as_bytes()));
            Ok(())
        }

        fn schema_changed(&mut self, _: &SchemaRef) -> Result<()> {
            Err(Error::failed("the schema is fixed"))
        }

        fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
            out.extend_from_slice(b"end\n");
            Ok(())
        }
    }

    fn batch(values: std::ops::Range<i64>) -> RecordBatch {
        let column: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
        RecordBatch::try_from_iter([("n", column)]).unwrap()
    }

    fn writer(path: &Path, limit: Option<u64>, threaded: bool) -> ResultWriter {
        ResultWriter::new(Box::new(Lines), open(Some(path)).unwrap(), limit, threaded).unwrap()
    }

    fn finish(writer: &mut ResultWriter) {
        writer.prepare().unwrap();
        writer.commit().unwrap();
    }

    #[test]
    fn rows_arrive_in_order_with_and_without_a_thread() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        for threaded in [false, true] {
            let mut writer = writer(&path, None, threaded);
            for i in 0..50 {
                writer.write(&batch(i * 2000..(i + 1) * 2000)).unwrap();
            }
            writer.flush().unwrap();
            assert!(!path.exists(), "a file appears at the end only");
            finish(&mut writer);
            let expected: String = (0..100_000).map(|i| format!("{i}\n")).chain(["end\n".into()]).collect();
            assert_eq!((fs::read_to_string(&path).unwrap(), writer.rows_written()), (expected, 100_000));
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn the_limit_cuts_within_a_batch() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        for threaded in [false, true] {
            let mut writer = self::writer(&path, Some(3), threaded);
            writer.write(&batch(0..2)).unwrap();
            assert!(!writer.is_full());
            writer.write(&batch(2..9)).unwrap();
            assert!(writer.is_full());
            writer.write(&batch(9..10)).unwrap();
            finish(&mut writer);
            assert_eq!((fs::read_to_string(&path).unwrap().as_str(), writer.rows_written()), ("0\n1\n2\nend\n", 3));
        }
        assert!(self::writer(&path, Some(0), false).is_full());
    }

    #[test]
    fn a_dropped_writer_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        for threaded in [false, true] {
            let mut writer = writer(&dir.path().join("out"), None, threaded);
            (0..20).for_each(|_| writer.write(&batch(0..50_000)).unwrap());
            drop(writer);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "threaded: {threaded}");
        }
    }

    #[test]
    fn an_error_comes_back_once_and_for_all_later_calls() {
        let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Utf8, true)]));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        for threaded in [false, true] {
            let mut writer = writer(&path, None, threaded);
            let first = writer.schema_changed(&schema).and_then(|()| writer.prepare()).unwrap_err();
            assert_eq!(first.message(), format!("{}: the schema is fixed", path.display()));
            assert_eq!(writer.write(&batch(0..1)).unwrap_err(), first);
            assert_eq!(writer.prepare().unwrap_err(), first);
            assert!(writer.commit().is_err() && fs::read_dir(dir.path()).unwrap().count() == 0);
        }
    }

    #[test]
    fn a_full_device_is_found_by_prepare_at_the_latest() {
        for threaded in [false, true] {
            let mut writer = writer(Path::new("/dev/full"), None, threaded);
            let error = writer.write(&batch(0..1)).and_then(|()| writer.prepare()).unwrap_err();
            assert_eq!(error.message(), "/dev/full: no space left on device");
        }
    }

    /// Stands for `| head` that has left.
    struct Closed;

    impl Commit for Closed {
        fn prepare(&mut self) -> Result<()> {
            Ok(())
        }

        fn commit(&mut self) -> Result<()> {
            Ok(())
        }
    }

    impl Sink for Closed {
        fn write(&mut self, _: &[u8]) -> Result<()> {
            Err(Error::io("standard output", &std::io::ErrorKind::BrokenPipe.into()))
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_stays_one() {
        for threaded in [false, true] {
            let opened = Opened { sink: Box::new(Closed), seen: true, name: "standard output".into() };
            let mut writer = ResultWriter::new(Box::new(Lines), opened, None, threaded).unwrap();
            let error = (0..1000).find_map(|_| writer.write(&batch(0..50_000)).err()).unwrap();
            assert_eq!(error.kind(), ErrorKind::ClosedPipe);
        }
    }
}
