//! All values of a slot with the moments they came at, nulls too: what `array_agg` and `string_agg` are made of. What
//! is made of them at last is a [`Form`].
//!
//! Kept in the order the rows came and sorted when asked for: no two rows share a moment. Must not know columns.

use super::OutOfRange;
use super::cells::Family;
use super::column::Moment;
use super::saved::{Reader, write_u64};
use super::value::Value;
use crate::schema::FieldType;
use arrow::array::ArrayRef;
use std::marker::PhantomData;

/// What is made of all values.
pub(super) trait Form: 'static {
    /// What a call says beside its argument column.
    type Options: Send;

    /// Whether nulls are among the values.
    const NULLS: bool;

    /// The type of results over arguments of this type.
    fn output(ty: FieldType) -> FieldType;

    /// The results.
    fn values<'a, V: Value>(
        options: &Self::Options,
        ty: FieldType,
        cells: impl Iterator<Item = &'a Collected<V>>,
    ) -> Result<ArrayRef, OutOfRange>;
}

/// The family of a form.
pub(super) struct All<F>(PhantomData<F>);

/// Values and their moments.
pub(super) struct Collected<V>(Vec<(Moment, Option<V>)>);

impl<V> Default for Collected<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V: Value> Collected<V> {
    /// Adds a value, or null.
    pub(super) fn push(&mut self, at: Moment, value: Option<&V::Ref>, heap: &mut usize) {
        let before = self.0.capacity();
        let value = value.map(V::own);
        *heap += value.as_ref().map_or(0, V::heap);
        self.0.push((at, value));
        *heap += (self.0.capacity() - before) * size_of::<(Moment, Option<V>)>();
    }

    /// Adds all that another has.
    pub(super) fn merge(&mut self, from: &Self, heap: &mut usize) {
        from.0.iter().for_each(|(at, value)| self.push(*at, value.as_ref().map(V::borrow), heap));
    }

    /// The same of other values.
    pub(super) fn map<W: Value>(&self, to: impl Fn(&V) -> W, heap: &mut usize) -> Collected<W> {
        let new = Collected(self.0.iter().map(|(at, value)| (*at, value.as_ref().map(&to))).collect());
        *heap += new.heap();
        new
    }

    /// Whether nothing was added.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values by time, then position.
    pub(super) fn sorted(&self) -> impl Iterator<Item = Option<&V>> {
        let mut all: Vec<(Moment, Option<&V>)> = self.0.iter().map(|(at, value)| (*at, value.as_ref())).collect();
        all.sort_unstable_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, value)| value)
    }

    /// Bytes held outside.
    pub(super) fn heap(&self) -> usize {
        let values = self.0.iter().filter_map(|(_, value)| value.as_ref());
        self.0.capacity() * size_of::<(Moment, Option<V>)>() + values.map(V::heap).sum::<usize>()
    }

    /// Writes all, to be read again.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_u64(self.0.len() as u64, out);
        for (at, value) in &self.0 {
            at.write(out);
            out.push(u8::from(value.is_some()));
            value.iter().for_each(|value| value.write(out));
        }
    }

    /// Reads what was written.
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let read = |reader: &mut Reader<'_>| -> Option<(Moment, Option<V>)> {
            let at = Moment::read(reader)?;
            Some((at, if reader.flag()? { Some(V::read(reader)?) } else { None }))
        };
        (0..reader.len()?).map(|_| read(reader)).collect::<Option<_>>().map(Self)
    }
}

impl<F: Form> Family for All<F> {
    type Options = F::Options;
    type Cell<V: Value> = Collected<V>;

    const ORDERED: bool = true;
    const NULLS: bool = F::NULLS;

    #[inline]
    fn take<V: Value>(cell: &mut Collected<V>, at: Moment, value: &V::Ref, heap: &mut usize) {
        cell.push(at, Some(value), heap);
    }

    fn take_null<V: Value>(cell: &mut Collected<V>, at: Moment, heap: &mut usize) {
        cell.push(at, None, heap);
    }

    fn merge<V: Value>(into: &mut Collected<V>, from: &Collected<V>, heap: &mut usize) {
        into.merge(from, heap);
    }

    fn map<V: Value, W: Value>(cell: &Collected<V>, to: impl Fn(&V) -> W, heap: &mut usize) -> Collected<W> {
        cell.map(to, heap)
    }

    fn may_become_text(_: FieldType) -> bool {
        true
    }

    fn heap<V: Value>(cell: &Collected<V>) -> usize {
        cell.heap()
    }

    fn is_empty<V: Value>(cell: &Collected<V>) -> bool {
        cell.is_empty()
    }

    fn write<V: Value>(cell: &Collected<V>, out: &mut Vec<u8>) {
        cell.write(out);
    }

    fn read<V: Value>(reader: &mut Reader<'_>) -> Option<Collected<V>> {
        Collected::read(reader)
    }

    fn output(_: &F::Options, ty: FieldType) -> FieldType {
        F::output(ty)
    }

    fn values<'a, V: Value>(
        options: &F::Options,
        ty: FieldType,
        cells: impl Iterator<Item = &'a Collected<V>>,
    ) -> Result<ArrayRef, OutOfRange> {
        F::values(options, ty, cells)
    }
}
