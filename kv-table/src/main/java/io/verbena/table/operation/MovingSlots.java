package io.verbena.table.operation;

import io.verbena.table.moving.MergeUnit;

/** Slots that an operation moves because it needs them; one bit each. */
final class MovingSlots
{
    /** Made when it is needed first: completes a group of subtables that are merged. */
    MergeUnit unit;
    /** Slots whose hashes were read; and those whose hashes the batch under way reads. */
    int done;
    int hashesPosted;
    /** Slots of which the words are those that they are about to be initialised with. */
    int pending;
    /** Those of them that the batch under way moves. */
    int moved;
}
