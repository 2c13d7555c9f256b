package io.verbena.cli.bench.copies;

import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.load.bench.UpdateLoad;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.identity.PeerIdentity;

import org.agrona.concurrent.NanoClock;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Kills or stops memory nodes of a table's group, one after the other, and has each come in again, while a workload
 * runs. Used by one thread.
 */
final class MemoryFailover
{
    private static final String MEMORY = "memory-";
    private static final long GIVE_UP_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long CALL_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long FILLING_POLL_NS = TimeUnit.MILLISECONDS.toNanos(50);
    /** Operations that waited end in less, once the view is active. */
    private static final long SETTLE_NS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long STOP_NS = TimeUnit.SECONDS.toNanos(10);

    /**
     * Of one memory node.
     *
     * @param longestNs        longest operation since it was killed or stopped.
     * @param longestOfEntryNs longest operation while it came in again.
     * @param entryNs          how long that took, from the request until it was a member.
     */
    record Took(long longestNs, long longestOfEntryNs, long entryNs)
    {
    }

    /**
     * Of a memory node without copies that came in.
     *
     * @param fillingNs       while the view was active, from the request on.
     * @param copiedBytes     in that time.
     * @param operations      in that time.
     * @param longestNs       longest operation in that time.
     * @param closedNs        from then until it was a member.
     * @param longestClosedNs longest operation in that time, or a little later.
     */
    record Filled(
        long fillingNs, long copiedBytes, long operations, long longestNs, long closedNs, long longestClosedNs)
    {
    }

    private final LocalCluster cluster;
    private final MetaCalls meta;
    private final UpdateLoad load;
    private final NanoClock clock;
    private final Consumer<String> events;
    private final int copies;

    /**
     * @param cluster whose table has a group, the only one.
     * @param meta    its meta server.
     * @param load    on the table.
     * @param clock   of this machine.
     * @param events  hears, in a word, what was done.
     */
    MemoryFailover(
        final LocalCluster cluster, final MetaCalls meta, final UpdateLoad load, final NanoClock clock,
        final Consumer<String> events)
    {
        this.cluster = cluster;
        this.meta = meta;
        this.load = load;
        this.clock = clock;
        this.events = events;
        copies = view().copies();
    }

    /**
     * Kills a member.
     *
     * @param place in the group, from 0: the head; taken modulo the number of copies.
     * @return how long operations took.
     */
    Took kill(final int place) throws InterruptedException
    {
        final PeerIdentity member = member(place);
        final Entry entry = entry(member);
        final ProcessHandle process = entry.process().orElseThrow();
        load.forgetLongest();
        events.accept("killed");
        entry.signal("KILL");
        awaitMembers(copies - 1, member);
        settle();
        final long longestNs = load.longestNs();
        process.onExit().join();
        cluster.up(LocalCluster.ANY_PORT, 1, null, null, (line) -> {});
        return enter(member, longestNs);
    }

    /**
     * Kills a member for good.
     *
     * @param place in the group, from 0: the head.
     */
    void lose(final int place) throws InterruptedException
    {
        final PeerIdentity member = member(place);
        entry(member).signal("KILL");
        awaitMembers(copies - 1, member);
        settle();
    }

    /**
     * Has a memory node come in that was no member.
     *
     * @return what that took.
     */
    Filled fill() throws InterruptedException
    {
        final PeerIdentity spare = meta.nodes(CALL_NS).stream().filter((node) -> NodeRole.MEMORY_NODE == node.role())
            .map(PeerRecord::identity).filter((node) -> view().members().stream()
                .noneMatch((member) -> member.nodeId() == node.nodeId())).findFirst().orElseThrow();
        final int group = view().group();
        load.forgetLongest();
        final long before = load.operations();
        final long startNs = clock.nanoTime();
        meta.result((client) -> client.enterGroup(group, spare.nodeId(), CALL_NS));
        final Map<Integer, Long> copiedBytes = new HashMap<>();
        while (view().isFilling())
        {
            meta.result((client) -> client.fills(CALL_NS))
                .forEach((fill) -> copiedBytes.merge(fill.pass(), fill.differingBytes(), Math::max));
            LockSupport.parkNanos(FILLING_POLL_NS);
        }
        final long filledNs = clock.nanoTime();
        final long operations = load.operations() - before;
        final long longestNs = load.longestNs();
        load.forgetLongest();
        awaitMembers(copies, PeerIdentity.UNREGISTERED);
        final long closedNs = clock.nanoTime() - filledNs;
        settle();
        return new Filled(filledNs - startNs, copiedBytes.values().stream().mapToLong(Long::longValue).sum(),
            operations, longestNs, closedNs, load.longestNs());
    }

    /**
     * Stops a member for ten seconds.
     *
     * @param place likewise.
     * @return how long operations took.
     */
    Took stop(final int place) throws InterruptedException
    {
        final PeerIdentity member = member(place);
        final Entry entry = entry(member);
        load.forgetLongest();
        events.accept("stopped");
        entry.signal("STOP");
        final long endNs = clock.nanoTime() + STOP_NS;
        try
        {
            awaitMembers(copies - 1, member);
            settle();
        }
        finally
        {
            while (endNs - clock.nanoTime() > 0)
            {
                LockSupport.parkNanos(endNs - clock.nanoTime());
            }
            entry.signal("CONT");
        }
        return enter(member, load.longestNs());
    }

    private Took enter(final PeerIdentity before, final long longestNs)
    {
        await("memory node " + before.nodeId() + " is registered", () -> meta.nodes(CALL_NS).stream().anyMatch(
            (node) -> node.nodeId() == before.nodeId() && node.incarnation() > before.incarnation()));
        load.forgetLongest();
        events.accept("back");
        final long startNs = clock.nanoTime();
        final int group = view().group();
        meta.result((client) -> client.enterGroup(group, before.nodeId(), CALL_NS));
        awaitMembers(copies, before);
        final long entryNs = clock.nanoTime() - startNs;
        settle();
        return new Took(longestNs, load.longestNs(), entryNs);
    }

    private View view()
    {
        return meta.views(CALL_NS).getFirst();
    }

    private PeerIdentity member(final int place)
    {
        settle();
        return view().members().get(place % copies);
    }

    private Entry entry(final PeerIdentity member)
    {
        for (final Entry entry : cluster.live())
        {
            final Map<String, Object> figures = entry.name().startsWith(MEMORY) ? HealthProbe.figures(entry) : null;
            if (null != figures && figures.get("node_id") instanceof final Number id &&
                id.intValue() == member.nodeId())
            {
                return entry;
            }
        }
        throw new CommandFailedException(
            ExitStatus.UNAVAILABLE, "no process says that it is memory node " + member.nodeId(), null);
    }

    /** Until so many are members, and one is none. */
    private void awaitMembers(final int count, final PeerIdentity gone)
    {
        await("its table has " + count + " copies", () ->
        {
            final View view = view();
            return ViewState.ACTIVE == view.state() && view.members().size() == count &&
                !view.members().contains(gone);
        });
    }

    private void await(final String what, final BooleanSupplier isSo)
    {
        final long endNs = clock.nanoTime() + GIVE_UP_NS;
        while (!isSo.getAsBoolean())
        {
            if (clock.nanoTime() - endNs > 0)
            {
                throw new CommandFailedException(ExitStatus.UNAVAILABLE, "after " +
                    TimeUnit.NANOSECONDS.toSeconds(GIVE_UP_NS) + " s it is not so that " + what + ": " + view(), null);
            }
            LockSupport.parkNanos(POLL_NS);
        }
    }

    private void settle()
    {
        final long endNs = clock.nanoTime() + SETTLE_NS;
        while (endNs - clock.nanoTime() > 0)
        {
            LockSupport.parkNanos(endNs - clock.nanoTime());
        }
    }
}
