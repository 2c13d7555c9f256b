package io.verbena.compute.growth;

import io.verbena.compute.group.KnownLeases;
import io.verbena.compute.group.LinkedChunks;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.raas.failure.Backoff;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableGrowth;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Makes known what took the place of subtables: asks for the descriptor, publishes the one that follows from it, gives
 * back what that does not name any more, and asks again when somebody else was faster. Owned by the node's thread.
 */
final class GrowthPublisher
{
    /** What came of it. */
    enum Outcome
    {
        RUNNING,
        /** What was replaced is named by nothing any more, and goes back. */
        PUBLISHED,
        /** There was nothing to publish, or it cannot be named. */
        NOTHING,
        /** The memory node is away: what was made may be gone with it. */
        AWAY,
        DROPPED
    }

    /** From the descriptor that is published to the one to come. */
    @FunctionalInterface
    interface Growth
    {
        TableGrowth after(TableDescriptor published);
    }

    /** Subtables that a publication replaces whose answer was lost, and leases from before it. */
    private record Doubt(List<Subtable> replaced, KnownLeases known)
    {
    }

    private static final Logger LOGGER = LoggerFactory.getLogger(GrowthPublisher.class);

    private final LinkedChunks chunks;
    private final Retirement retirement;
    private final SessionParts session;
    private final TableDescriptor table;
    private final int memoryNodeId;
    private final Growth wanted;
    private final Backoff backoff;
    private final List<Doubt> doubts = new ArrayList<>();
    private final KnownLeases madeBy;
    private KnownLeases known;
    private TableGrowth growth;
    /** Whether the leases are known of what the answer to the next question may name; null before it is looked. */
    private BooleanSupplier looked;
    private ControlCall<TableEntry> asking;
    private ControlCall<Void> publishing;
    /** The descriptor that the publication under way is to replace; that was refused if it comes again. */
    private byte[] refused;
    private boolean isPausing;
    private long pauseUntilNs;
    private Outcome outcome = Outcome.RUNNING;

    /**
     * @param table        as it was when this node opened it.
     * @param memoryNodeId of all subtables that are replaced; or group.
     * @param madeBy       leases by which what is published was made.
     */
    GrowthPublisher(
        final LinkedChunks chunks, final Retirement retirement, final SessionParts session,
        final TableDescriptor table, final int memoryNodeId, final KnownLeases madeBy, final Growth wanted)
    {
        this.chunks = chunks;
        this.retirement = retirement;
        this.session = session;
        this.table = table;
        this.memoryNodeId = memoryNodeId;
        this.madeBy = madeBy;
        known = madeBy;
        this.wanted = wanted;
        backoff = session.metaLink().retryBackoff();
    }

    Outcome outcome()
    {
        return outcome;
    }

    /** What the answer names was in use when this asked: by a lease that is known now nobody has it after that. */
    private void ask()
    {
        if (null == looked)
        {
            looked = chunks.look(memoryNodeId);
        }
        if (!looked.getAsBoolean())
        {
            return;
        }
        looked = null;
        known = madeBy.and(chunks.known(memoryNodeId));
        asking = session.metaLink().client().table(table.name(), session.timeoutNs());
    }

    /** @return whether it waits for nothing but time. */
    boolean isPausing(final long nowNs)
    {
        return isPausing && pauseUntilNs - nowNs > 0;
    }

    int poll(final long nowNs)
    {
        if (Outcome.RUNNING != outcome || isPausing(nowNs))
        {
            return 0;
        }
        isPausing = false;
        if (null == asking && null == publishing)
        {
            // Only behind the pause: what was answered before it others may have replaced since.
            ask();
            return null == asking ? 0 : 1;
        }
        return null == publishing ? pollAsking(nowNs) : pollPublishing(nowNs);
    }

    private int pollAsking(final long nowNs)
    {
        if (!asking.isDone())
        {
            return 0;
        }
        final ControlStatus status = asking.status();
        if (ControlStatus.OK == status && Arrays.equals(asking.result().descriptor(), refused))
        {
            // Nobody was faster: the memory node is another one by now, or the meta server cannot write.
            pause(nowNs);
        }
        else if (ControlStatus.OK == status && asking.result().tableId() == table.tableId())
        {
            publish(asking.result());
        }
        else if (ControlStatus.OK == status || ControlStatus.NO_SUCH_TABLE == status)
        {
            outcome = Outcome.DROPPED;
            doubts.forEach((doubt) -> retire(doubt.replaced, doubt.known));
            doubts.clear();
        }
        else
        {
            pause(nowNs);
        }
        return 1;
    }

    private void pause(final long nowNs)
    {
        isPausing = true;
        pauseUntilNs = nowNs + backoff.nextPauseNs();
        refused = null;
        asking = null;
    }

    private void publish(final TableEntry entry)
    {
        if (!chunks.isReady(memoryNodeId))
        {
            outcome = Outcome.AWAY;
            return;
        }
        outcome = Outcome.NOTHING;
        try
        {
            final TableDescriptor published = TableDescriptor.decode(entry.descriptor());
            resolveDoubts(published);
            growth = wanted.after(published);
        }
        catch (final FormatException ex)
        {
            LOGGER.warn("table {} cannot be published: {}", entry.name(), ex.getMessage());
            return;
        }
        final byte[] descriptor = growth.descriptor().encode();
        if (descriptor.length > TableEntry.MAX_DESCRIPTOR_BYTES)
        {
            LOGGER.warn("table {} stays as published: its descriptor would have {} bytes, more than {}", entry.name(),
                descriptor.length, TableEntry.MAX_DESCRIPTOR_BYTES);
        }
        else if (!growth.replaced().isEmpty())
        {
            outcome = Outcome.RUNNING;
            refused = entry.descriptor();
            final long checksum =
                ByteBuffer.wrap(refused).order(ByteOrder.LITTLE_ENDIAN).getLong(refused.length - Long.BYTES);
            publishing = session.metaLink().client().growTable(
                new TableEntry(entry.name(), entry.tableId(), descriptor), checksum,
                chunks.members(memoryNodeId), session.timeoutNs());
        }
    }

    private int pollPublishing(final long nowNs)
    {
        if (!publishing.isDone())
        {
            return 0;
        }
        if (ControlStatus.OK == publishing.status())
        {
            retire(growth.replaced(), known);
            doubts.clear();
            outcome = Outcome.PUBLISHED;
        }
        else
        {
            if (publishing.status().isUnknown())
            {
                doubts.add(new Doubt(growth.replaced(), known));
                pause(nowNs);
            }
            else
            {
                // Most likely somebody else was faster: at once, before somebody is again.
                asking = null;
                ask();
            }
            publishing = null;
        }
        return 1;
    }

    /** Two may return what was replaced, of which one return is nothing; see {@code IndexReturn}. */
    private void resolveDoubts(final TableDescriptor published)
    {
        final List<Subtable> named = Subtable.of(published);
        doubts.removeIf((doubt) ->
        {
            final boolean isReplaced = doubt.replaced.stream().noneMatch(named::contains);
            if (isReplaced)
            {
                retire(doubt.replaced, doubt.known);
            }
            return isReplaced;
        });
    }

    private void retire(final List<Subtable> subtables, final KnownLeases older)
    {
        retirement.retire(table.name(), subtables, older);
    }

    /** Nothing is published any more: what is in doubt is swept if nobody uses it. */
    void end()
    {
        if (!doubts.isEmpty())
        {
            chunks.sweepIndexes(memoryNodeId);
        }
        doubts.clear();
    }

    @Override
    public String toString()
    {
        return "GrowthPublisher{" + outcome + '}';
    }
}
