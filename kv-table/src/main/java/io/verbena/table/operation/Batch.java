package io.verbena.table.operation;

import io.verbena.raas.OneSidedPort;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.table.access.MirroredPort;
import io.verbena.table.access.Scratch;
import io.verbena.table.access.SlotRound;
import io.verbena.table.directory.NodeLink;
import io.verbena.table.format.SizeClasses;
import java.util.ArrayList;

/**
 * Stages the requests of one step of an operation, at most {@link OneSidedPort#LEAST_SPACE}, and rings the doorbell.
 * Within a group, steps of several operations to one memory node share a batch, its doorbell and its completion: they
 * form a chain, known by the cookie of its first. Counts what each operation costs.
 */
public final class Batch
{
    /** Who drives the operations. */
    interface Owner
    {
        /** Brings near what an operation reads first. */
        void preload(Operation op);

        /** Runs the first step. */
        void begin(Operation op);

        /** Stages the requests of the step that an operation is at. */
        void stage(Operation op);

        /** The doorbell of an operation's step rang, or could not. */
        void onRing(Operation op, boolean isPosted);

        /** A request was refused, of an operation of which nothing is staged any more. */
        void onRefused(Operation op);
    }

    /** End of a chain. */
    public static final int NONE = NodeLink.NONE;
    /** Cookie bits that hold the index of the chain's first operation. */
    private static final int INDEX_BITS = 12;
    private static final int SEQUENCE_MASK = (1 << 30 - INDEX_BITS) - 1;

    private final Scratch scratch;
    private final boolean fencesReads;
    private final Operation[] operations;
    private final Owner owner;
    private final ArrayList<NodeLink> open = new ArrayList<>();
    /** A chain of those that were begun within the group and wait for its end. */
    private Operation firstBegun;
    private Operation lastBegun;
    private NodeLink link;
    private OneSidedPort port;
    private Operation current;
    private int sequence;
    private int groups;

    Batch(final Operation[] operations, final Scratch scratch, final boolean fencesReads, final Owner owner)
    {
        this.operations = operations;
        this.scratch = scratch;
        this.fencesReads = fencesReads;
        this.owner = owner;
    }

    public static int indexOf(final int cookie)
    {
        return cookie & (1 << INDEX_BITS) - 1;
    }

    /** Steps begun from now on wait for one doorbell, until the group ends. Groups nest. */
    public void beginGroup()
    {
        groups++;
    }

    /** Brings near where an operation looks first, long before it is needed; in a group all at once, at its end. */
    public void preload(final Operation op)
    {
        if (groups == 0)
        {
            owner.preload(op);
        }
    }

    /** Begins an operation; within a group its first step waits for the group's end. */
    public void start(final Operation op)
    {
        if (groups == 0)
        {
            owner.begin(op);
            return;
        }
        op.step = Step.START;
        op.nextInBatch = NONE;
        if (firstBegun == null)
        {
            firstBegun = op;
        }
        else
        {
            lastBegun.nextInBatch = op.index;
        }
        lastBegun = op;
    }

    /** The engine is closed: what waits for the end of the group is not begun any more. */
    public void close()
    {
        firstBegun = null;
    }

    private void startAll()
    {
        Operation op = firstBegun;
        firstBegun = null;
        for (Operation next = op; next != null; next = operation(next.nextInBatch))
        {
            owner.preload(next);
        }
        while (op != null)
        {
            final Operation next = operation(op.nextInBatch);
            owner.begin(op);
            op = next;
        }
    }

    /** Rings the doorbells of the outermost group. */
    public void endGroup()
    {
        boolean isRinging = groups == 1;
        while (isRinging)
        {
            startAll();
            isRinging = firstBegun != null;
            for (int i = 0; i < open.size(); i++)
            {
                isRinging |= open.get(i).firstStaged != NONE;
                ring(open.get(i));
            }
        }
        if (--groups == 0)
        {
            open.clear();
        }
    }

    /** Forgets what is staged for a port that is given up; its operations wait for another one. */
    public void drop(final NodeLink node)
    {
        final Operation first = takeStaged(node);
        settle(first, 0, false);
    }

    /** @return the operation of an index, or null for {@link #NONE}. */
    Operation operation(final int index)
    {
        return index == NONE ? null : operations[index];
    }

    /**
     * Whether one more step finds room; rings for what is staged if that makes it, or makes more of it.
     *
     * @param more requests it is to have room for beyond {@link OneSidedPort#LEAST_SPACE}, if there can be so much.
     */
    boolean hasRoom(final Operation op, final int more)
    {
        final NodeLink node = op.request.link;
        if (node.port.space() >= OneSidedPort.LEAST_SPACE + more + node.trailingReads)
        {
            return true;
        }
        if (node.firstStaged != NONE)
        {
            ring(node);
        }
        return node.port.space() >= OneSidedPort.LEAST_SPACE;
    }

    /**
     * Stages the step of an operation, and rings or keeps it for the doorbell of the group. Where the port refuses a
     * request, the operation ends: a word that it read names memory which the node has not.
     */
    void post(final Operation op)
    {
        boolean isStaged = false;
        try
        {
            begin(op);
            owner.stage(op);
            isStaged = true;
        }
        catch (final RaasMisuseException ex)
        {
            // Told by the result. Whoever drives the engine goes on with everything else.
        }
        finally
        {
            if (!isStaged)
            {
                unstage(link, op);
            }
        }
        if (isStaged)
        {
            end();
        }
    }

    /** Drops the open batch, of which one operation cannot be staged and ends; the others wait to be staged again. */
    private void unstage(final NodeLink node, final Operation op)
    {
        Operation other = takeStaged(node);
        node.port.abort();
        while (other != null)
        {
            final Operation next = operation(other.nextInBatch);
            if (other != op)
            {
                owner.onRing(other, false);
            }
            other = next;
        }
        owner.onRefused(op);
    }

    private void begin(final Operation op)
    {
        if (op.step != Step.CACHED_READ)
        {
            stageTrailingReads(op.request.link);
        }
        stageFor(op);
        op.cost.stagedVerbs = 0;
        op.nextInBatch = NONE;
        if (link.firstStaged == NONE)
        {
            port.begin();
            link.firstStaged = op.index;
            link.stagedFences = 0;
            if (groups > 0 && !open.contains(link))
            {
                open.add(link);
            }
        }
        else
        {
            operation(link.lastStaged).nextInBatch = op.index;
        }
        link.lastStaged = op.index;
    }

    /** Stores only what changes, mostly nothing: a reference that is stored may cost a fence, see {@link NodeLink}. */
    private void stageFor(final Operation op)
    {
        if (current != op)
        {
            current = op;
        }
        if (link != op.request.link)
        {
            link = op.request.link;
        }
        if (port != link.port)
        {
            port = link.port;
        }
    }

    /** @return the first of what was staged for a node, which is nothing from now on; or null. */
    private Operation takeStaged(final NodeLink node)
    {
        final Operation first = operation(node.firstStaged);
        node.firstStaged = NONE;
        node.lastStaged = NONE;
        node.firstTrailing = NONE;
        node.trailingReads = 0;
        return first;
    }

    /**
     * Stages the READ of an operation's slot as the last of its step. In a group it comes behind the first READs of the
     * operations staged after this one: answers of one length in a row cost a network transport far less than answers
     * of two lengths in turn.
     */
    void readSlotLast()
    {
        if (groups == 0)
        {
            read(current.base + Scratch.SLOT_OFFSET, Long.BYTES, current.target.offset);
            return;
        }
        if (link.trailingReads++ == 0)
        {
            link.firstTrailing = current.index;
        }
        current.cost.stagedVerbs++;
    }

    /** Stages what waits for the end of the batch, or for a step of another kind; false when a READ was refused. */
    private boolean stageTrailingReads(final NodeLink node)
    {
        Operation op = operation(node.firstTrailing);
        node.firstTrailing = NONE;
        node.trailingReads = 0;
        while (op != null)
        {
            try
            {
                node.port.read(scratch.region, op.base + Scratch.SLOT_OFFSET, Long.BYTES, op.target.offset);
            }
            catch (final RaasMisuseException ex)
            {
                unstage(node, op);
                return false;
            }
            op = operation(op.nextInBatch);
        }
        return true;
    }

    void read(final int localOffset, final int lengthBytes, final long remoteOffset)
    {
        port.read(scratch.region, localOffset, lengthBytes, remoteOffset);
        current.cost.stagedVerbs++;
    }

    /** As {@link #read}, of what stands beside own claims, which other copies than the first do not have. */
    void readBesideClaims(final int localOffset, final int lengthBytes, final long remoteOffset)
    {
        if (port instanceof final MirroredPort mirrored)
        {
            mirrored.readAt(0, scratch.region, localOffset, lengthBytes, remoteOffset);
            current.cost.stagedVerbs++;
        }
        else
        {
            read(localOffset, lengthBytes, remoteOffset);
        }
    }

    /** Stages a READ of the word that counts in a slot, behind whatever was decided before and is not committed. */
    void readSettled(final int localOffset, final long slotOffset)
    {
        SlotRound.settle(port, scratch.region, localOffset, slotOffset);
        current.cost.stagedVerbs++;
    }

    /** As {@link #readSettled}, of a bucket header. */
    void readSettledLink(final int localOffset, final long headerOffset)
    {
        SlotRound.settleLink(port, scratch.region, localOffset, headerOffset);
        current.cost.stagedVerbs++;
    }

    void write(final int localOffset, final int lengthBytes, final long remoteOffset)
    {
        port.write(scratch.region, localOffset, lengthBytes, remoteOffset);
        current.cost.stagedVerbs++;
    }

    /** Stages the WRITE of an operation's own block. */
    void writeOwnBlock(final Operation op)
    {
        write(op.ownBlock(), SizeClasses.lengthBytes(op.block.sizeClass), op.block.offset);
    }

    /** Stages a proposal on the word of a slot; the word found lands in the numbered result word. */
    void propose(final int resultNumber, final long slotOffset, final long expected, final long proposed)
    {
        SlotRound.propose(port, scratch.region, resultAt(resultNumber), slotOffset, expected, proposed);
    }

    /** As {@link #propose}, of a bucket header. */
    void proposeLink(final int resultNumber, final long offset, final long expected, final long proposed)
    {
        SlotRound.proposeLink(port, scratch.region, resultAt(resultNumber), offset, expected, proposed);
    }

    /** As {@link #propose}: the tentative word of the operation is put on the word of an empty slot. */
    void claim(final int resultNumber, final Claim claim)
    {
        SlotRound.claim(port, scratch.region, resultAt(resultNumber), claim.offset, claim.base, claim.word);
    }

    /** As {@link #propose}: the tentative word of the operation becomes the word of its block. */
    void commit(final int resultNumber, final Claim claim, final long committed)
    {
        SlotRound.commit(
            port, scratch.region, resultAt(resultNumber), claim.offset, claim.base, claim.word, committed);
    }

    /** As {@link #propose}: the tentative word of the operation is taken back. */
    void withdraw(final int resultNumber, final Claim claim)
    {
        SlotRound.withdraw(port, scratch.region, resultAt(resultNumber), claim.offset, claim.word, claim.base);
    }

    /** As {@link #propose}: a tentative word gives way to an emptied one. */
    void kill(final int resultNumber, final long slotOffset, final long tentative, final long emptied)
    {
        SlotRound.kill(port, scratch.region, resultAt(resultNumber), slotOffset, tentative, emptied);
    }

    private int resultAt(final int resultNumber)
    {
        current.cost.stagedVerbs++;
        return current.swapResultOffset(resultNumber);
    }

    /** The READs that follow must execute after the atomics before them; a fence only where the device needs it. */
    void readsFollowAtomics()
    {
        if (fencesReads)
        {
            port.fenceNext();
            link.stagedFences++;
        }
    }

    /** Ends a step; outside of a group the doorbell rings at once. */
    private void end()
    {
        current.cost.stagedExtraRoundTrips = link.stagedFences;
        if (groups == 0)
        {
            ring(link);
        }
    }

    private void ring(final NodeLink node)
    {
        if (!stageTrailingReads(node))
        {
            return;
        }
        final Operation first = takeStaged(node);
        if (first == null)
        {
            return;
        }
        sequence = sequence + 1 & SEQUENCE_MASK;
        final int cookie = sequence << INDEX_BITS | first.index;
        final boolean isPosted = node.port.complete(cookie) == PostStatus.OK;
        if (isPosted)
        {
            first.cost.doorbells++;
        }
        settle(first, cookie, isPosted);
    }

    private void settle(final Operation first, final int cookie, final boolean isPosted)
    {
        Operation op = first;
        while (op != null)
        {
            final Operation next = operation(op.nextInBatch);
            if (isPosted)
            {
                op.cookie = cookie;
                op.inFlight = true;
                op.cost.verbs += op.cost.stagedVerbs;
                op.cost.roundTrips += 1 + op.cost.stagedExtraRoundTrips;
            }
            owner.onRing(op, isPosted);
            op = next;
        }
    }
}
