package io.verbena.table.operation;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.Scratch;
import io.verbena.table.directory.TableDirectory;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.moving.Freezing;
import io.verbena.table.moving.MergeUnit;
import io.verbena.table.moving.SlotMove;

/**
 * Moves the slots that an operation needs from a subtable that is split, so that nobody waits for the splitter: each
 * old slot is frozen, then the same slot of the new one is initialised from it. Whoever comes second finds it done.
 * Section "Split" of {@code docs/protocol/growth.md}; {@code TableSplit} does the same to whole subtables.
 */
final class SlotMoves
{
    /** Headers and slots of two pairs: what a step that freezes posts at most, without hashes. */
    private static final int MOST_FREEZES = 4 + Location.MAX_SLOTS;
    /** Requests of the claim of an insert behind its moves. */
    private static final int RESERVED = 4;

    private final OperationFlow flow;
    private final OldBuckets old;

    SlotMoves(final OperationFlow flow)
    {
        this.flow = flow;
        old = new OldBuckets(flow.batch);
    }

    /** @return the word that counts for a reader: the new one, or what the old one will become on its side. */
    long peekedWord(final Operation op, final int slot)
    {
        final long word = op.slotWord(slot);
        if (word != SlotWord.UNINITIALISED)
        {
            return word;
        }
        if (op.location.isMerging())
        {
            return op.location.isMixed(slot) ? word : SlotMove.asCommitted(op.oldWord(slot));
        }
        return SlotMove.moved(SlotWord.frozen(op.oldWord(slot)), op.location.subtableDepth, op.location.splitSide(),
            false, 0);
    }

    /**
     * Where nothing of a group of a merged subtable is initialised, the old words count; where all is, the new ones. In
     * between a word may have gone to another slot of the group, so that neither tell.
     *
     * @return the pairs whose groups are in between, one bit each.
     */
    int mixedPairs(final Operation op)
    {
        if (!op.location.isMerging())
        {
            return 0;
        }
        int some = 0;
        int missing = 0;
        for (int slot = op.location.slotsRead() - 1; slot >= 0; slot--)
        {
            final int pair = 1 << pairOf(slot);
            some |= op.slotWord(slot) == SlotWord.UNINITIALISED ? 0 : pair;
            missing |= op.slotWord(slot) == SlotWord.UNINITIALISED ? pair : 0;
        }
        if (op.location.pairCount == 2 && groupOf(op, 0) == groupOf(op, 1))
        {
            return some != 0 && missing != 0 ? 1 << 0 | 1 << 1 : 0;
        }
        return some & missing;
    }

    private static int pairOf(final int slot)
    {
        return slot / (2 * BucketDescriptor.SLOTS_PER_BUCKET);
    }

    static int groupOf(final Operation op, final int pair)
    {
        return (int)((op.location.pairOffsets[pair] - op.location.groupsOffset) / BucketDescriptor.GROUP_BYTES);
    }

    /** Completes the first group in which a slot is not initialised; another one after another look. */
    private void beginUnit(final Operation op)
    {
        int pair = op.location.pairCount - 1;
        for (int slot = op.location.slotsRead() - 1; slot >= 0; slot--)
        {
            pair = op.slotWord(slot) == SlotWord.UNINITIALISED ? pairOf(slot) : pair;
        }
        if (op.moving.unit == null || op.moving.unit.tableId() != op.request.table.tableId)
        {
            op.moving.unit = new MergeUnit(op.request.table.tableId);
        }
        final long own = op.location.predecessor - SubtableDescriptor.GROUPS_OFFSET;
        final long sibling = MergeLink.sibling(op.location.splitLink);
        final boolean isFirst = (KeyHash.suffix(op.request.hash.high(), op.location.subtableDepth +
            1) >>> op.location.subtableDepth) == 0;
        op.moving.unit.begin(op.location.subtableSuffix, op.location.subtableDepth, isFirst ? own : sibling, isFirst ?
            sibling : own,
            op.location.groupsOffset - SubtableDescriptor.GROUPS_OFFSET, groupOf(op, pair), op.base +
            Scratch.BLOCKS_OFFSET);
        flow.counters.pairsHelped++;
        op.request.table.pairsHelped++;
        flow.go(op, Step.UNIT);
    }

    void onUnit(final Operation op)
    {
        op.moving.unit.onComplete(old.of(op));
        if (op.moving.unit.failure() != null)
        {
            flow.end(op, OperationResult.RESTRUCTURING);
        }
        else
        {
            flow.go(op, op.moving.unit.isDone() ? Step.LOOK : Step.UNIT);
        }
    }

    boolean seesFrozen(final Operation op)
    {
        for (int slot = op.location.slotsRead() - 1; slot >= 0; slot--)
        {
            if (SlotWord.isFrozen(op.slotWord(slot)))
            {
                return true;
            }
        }
        return false;
    }

    /** @return requests a step is to have room for beyond {@link OneSidedPort#LEAST_SPACE}, if there can be so much. */
    static int requests(final Operation op)
    {
        return op.step == Step.FREEZE ? MOST_FREEZES - OneSidedPort.LEAST_SPACE +
            (SlotWord.beginsWindow(op.location.subtableDepth) ? Location.MAX_SLOTS : 0) :
            op.step == Step.CLAIM || op.step == Step.MOVE ? Integer.bitCount(op.moving.pending) : 0;
    }

    /** @return whether the bucket of a slot, as read from the subtable that is split, is that one's. */
    boolean oldHeaderFits(final Operation op, final int slot)
    {
        final long header = op.oldBucketHeader(slot / BucketDescriptor.SLOTS_PER_BUCKET);
        return header == op.location.splitLink || header == TableDirectory.parentHeader(op.location.bucketHeader);
    }

    /** Freezes one slot, the link first: its swap is the last one. */
    void stageFreeze(final Operation op, final int slot)
    {
        Freezing.stage(old.begin(op, slot), old);
    }

    /** @return whether the word that was read is frozen now; if not, there is another one. */
    boolean isFrozenNow(final Operation op, final int slot)
    {
        final long read = op.oldWord(slot);
        return SlotMove.isFrozen(read) || isFrozenNow(read, op.swapResult(op.claim.victimCount - 1));
    }

    private static boolean isFrozenNow(final long read, final long found)
    {
        return found == read || found == SlotMove.frozen(read);
    }

    /** @return what a slot becomes in the subtable of the operation, if its window there is the one given. */
    long movedTo(final Operation op, final int slot, final int window)
    {
        return SlotMove.moved(SlotWord.frozen(op.oldWord(slot)), op.location.subtableDepth, op.location.splitSide(),
            renews(op), window);
    }

    /** Old and new words were read, and some of the new ones are missing. */
    void begin(final Operation op)
    {
        if (op.location.isMerging())
        {
            beginUnit(op);
            return;
        }
        for (int bucket = 2 * op.location.pairCount - 1; bucket >= 0; bucket--)
        {
            if (!oldHeaderFits(op, bucket * BucketDescriptor.SLOTS_PER_BUCKET))
            {
                flow.end(op, OperationResult.TABLE_CHANGED);
                return;
            }
        }
        flow.counters.pairsHelped++;
        op.request.table.pairsHelped++;
        op.moving.done = 0;
        freezeOrMove(op);
    }

    void stageUnit(final Operation op)
    {
        op.moving.unit.stage(old.begin(op));
    }

    private void freezeOrMove(final Operation op)
    {
        boolean isFrozen = true;
        for (int slot = op.location.slotsRead() - 1; slot >= 0; slot--)
        {
            final long word = op.oldWord(slot);
            if (op.isPending(slot))
            {
                if (word == SlotWord.UNINITIALISED)
                {
                    // A subtable that is split has been initialised as a whole.
                    flow.end(op, OperationResult.RESTRUCTURING);
                    return;
                }
                isFrozen &= SlotMove.isFrozen(word);
            }
        }
        if (!isFrozen)
        {
            flow.go(op, Step.FREEZE);
        }
        else if (renews(op) && hasHashToRead(op))
        {
            flow.go(op, Step.READ_HASHES);
        }
        else
        {
            move(op);
        }
    }

    /**
     * What each slot becomes is known, and the same for all who move it. So an insert places its tentative word in the
     * same batch, behind the moves, as if it had read these words; its re-read shows whether all are there.
     */
    private void move(final Operation op)
    {
        final boolean renews = renews(op);
        op.moving.pending = 0;
        for (int slot = op.location.slotsRead() - 1; slot >= 0; slot--)
        {
            if (op.isPending(slot))
            {
                op.moving.pending |= 1 << slot;
            }
            if (op.slotWord(slot) == SlotWord.UNINITIALISED)
            {
                final int window = renews ? KeyHash.window(op.scratch.word(hashAt(op, slot)),
                    op.location.subtableDepth) : 0;
                op.slotWord(slot, SlotMove.moved(op.oldWord(slot), op.location.subtableDepth, op.location.splitSide(),
                    renews, window));
            }
        }
        if (op.emptySlot() >= 0)
        {
            flow.insert(op);
        }
        else
        {
            flow.go(op, Step.MOVE);
        }
    }

    private static boolean renews(final Operation op)
    {
        return SlotWord.beginsWindow(op.location.subtableDepth);
    }

    private int room(final Operation op)
    {
        return Math.min(Scratch.MAX_SWAPS, op.request.link.port.space());
    }

    /** The hashes of the words that are frozen come with them: of a word that stays, they stay. */
    void stageFreeze(final Operation op)
    {
        Freezing.stage(old.begin(op), old);
        op.moving.hashesPosted = 0;
        for (int slot = 0, slots = op.location.slotsRead(); slot < slots && renews(op) &&
            op.request.link.port.space() > 0; slot++)
        {
            if (needsHash(op, slot))
            {
                stageReadHash(op, slot);
                op.moving.hashesPosted |= 1 << slot;
            }
        }
    }

    void onFreeze(final Operation op)
    {
        old.of(op);
        for (int i = 0; i < old.posted(); i++)
        {
            if (old.item(i) >= 0 && !isFrozenNow(op.oldWord(old.item(i)), old.result(i)))
            {
                op.moving.hashesPosted &= ~(1 << old.item(i));
            }
        }
        Freezing.onComplete(old, old);
        op.moving.done |= op.moving.hashesPosted;
        freezeOrMove(op);
    }

    /** Whether the hash of what a slot holds, or of what is about to be frozen there, is needed and not known. */
    private boolean needsHash(final Operation op, final int slot)
    {
        final long frozen = SlotWord.frozen(op.oldWord(slot));
        return op.isPending(slot) && SlotWord.namesBlock(frozen) &&
            SlotWord.side(frozen, op.location.subtableDepth - 1) == op.location.splitSide() &&
            (op.moving.done & 1 << slot) == 0;
    }

    private boolean hasHashToRead(final Operation op)
    {
        for (int slot = op.location.slotsRead() - 1; slot >= 0; slot--)
        {
            if (needsHash(op, slot))
            {
                return true;
            }
        }
        return false;
    }

    /** What a block holds by now may be another key's: then its slot is initialised, and nobody takes this hash. */
    void stageReadHashes(final Operation op)
    {
        final int room = room(op);
        op.moving.hashesPosted = 0;
        for (int slot = 0, slots = op.location.slotsRead(); slot < slots &&
            Integer.bitCount(op.moving.hashesPosted) < room; slot++)
        {
            if (needsHash(op, slot))
            {
                stageReadHash(op, slot);
                op.moving.hashesPosted |= 1 << slot;
            }
        }
    }

    /** The half of it that distinguishes windows. */
    private void stageReadHash(final Operation op, final int slot)
    {
        flow.batch.read(hashAt(op, slot) + SlotMove.DIRECTORY_BITS_AT, Long.BYTES - SlotMove.DIRECTORY_BITS_AT,
            SlotWord.blockOffset(op.oldWord(slot)) + BlockDescriptor.KEY_HASH_OFFSET + SlotMove.DIRECTORY_BITS_AT);
    }

    private static int hashAt(final Operation op, final int slot)
    {
        return op.base + Scratch.BLOCKS_OFFSET + slot * Long.BYTES;
    }

    void onReadHashes(final Operation op)
    {
        op.moving.done |= op.moving.hashesPosted;
        if (hasHashToRead(op))
        {
            flow.go(op, Step.READ_HASHES);
        }
        else
        {
            move(op);
        }
    }

    void stageMove(final Operation op)
    {
        op.moving.moved = stageMoves(op, 0);
    }

    /**
     * The other side's slots are left to those who need them. A lost swap means that somebody else has done it.
     *
     * @param firstResult number of the first result word.
     * @return the slots for which there was room, one bit each.
     */
    int stageMoves(final Operation op, final int firstResult)
    {
        int staged = 0;
        int swaps = firstResult;
        for (int slots = op.moving.pending; slots != 0 && room(op) > RESERVED; slots &= slots - 1)
        {
            final int slot = Integer.numberOfTrailingZeros(slots);
            flow.batch.propose(swaps++, newOffset(op, slot), SlotWord.UNINITIALISED, op.slotWord(slot));
            staged |= 1 << slot;
        }
        return staged;
    }

    /** A word goes to the same slot, whoever moves it. */
    private static long newOffset(final Operation op, final int slot)
    {
        return op.location.slotOffset(slot);
    }

    void onMove(final Operation op)
    {
        op.moving.pending &= ~op.moving.moved;
        flow.go(op, op.moving.pending == 0 ? Step.LOOK : Step.MOVE);
    }
}
