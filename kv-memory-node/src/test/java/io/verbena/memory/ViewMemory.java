package io.verbena.memory;

import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.RdmaException;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A memory node of a {@link ViewRun}: production code decides who has a key; the keys and what lands are modelled. */
final class ViewMemory
{
    /** A key to the region: open, or closed for good. */
    static final class Key
    {
        boolean isOpen = true;
    }

    /** Keys, of which one may resist being closed, as while a stopped requester is inside. */
    private final class RegionKeys implements MemoryViews.Keys
    {
        private final Map<PeerIdentity, Key> granted = new HashMap<>();
        private final Map<Integer, Key> reconcilers = new HashMap<>();
        private final Map<Integer, PeerIdentity> holders = new HashMap<>();

        private void resist()
        {
            if (!run.isQuiet && 0 == run.random.nextInt(6))
            {
                throw new RdmaException("a requester does not leave the memory");
            }
        }

        @Override
        public void closeAll()
        {
            for (final PeerIdentity holder : List.copyOf(granted.keySet()))
            {
                resist();
                granted.remove(holder).isOpen = false;
            }
        }

        @Override
        public void closeReconciler(final int group)
        {
            if (reconcilers.containsKey(group))
            {
                resist();
                reconcilers.remove(group).isOpen = false;
                holders.remove(group);
            }
        }

        private void revoke(final PeerIdentity fenced)
        {
            final Key key = granted.remove(fenced);
            if (null != key)
            {
                key.isOpen = false;
            }
            for (final Integer group : List.copyOf(holders.keySet()))
            {
                if (holders.get(group).equals(fenced))
                {
                    reconcilers.remove(group).isOpen = false;
                    holders.remove(group);
                }
            }
        }

        private void end()
        {
            granted.values().forEach((key) -> key.isOpen = false);
            reconcilers.values().forEach((key) -> key.isOpen = false);
        }
    }

    private final ViewRun run;
    private final ViewRun.Actor actor;
    private final long memoryId;
    /** Incarnation since which it has all that landed; 0: the one that it registers next. */
    private int since;
    PeerIdentity identity;
    boolean isLost;
    final List<Set<Long>> slots = new ArrayList<>();
    private RegionKeys keys;
    private MemoryViews views;
    private ComputeAdmission admission;
    private final Set<PeerIdentity> fenced = new HashSet<>();
    private boolean isRegistering;
    private long leaseEndsNs;
    private long nextCallNs;
    private long closedNumber;
    private int closedAttempt;
    private List<Set<Long>> checkpoint = List.of(Set.of(), Set.of());

    ViewMemory(final ViewRun run, final PeerIdentity identity, final long memoryId)
    {
        this.run = run;
        this.memoryId = memoryId;
        actor = run.new Actor()
        {
        };
        for (int i = 0; i < ViewRun.SLOTS; i++)
        {
            slots.add(new HashSet<>());
        }
        begin(identity, Set.of());
        leaseEndsNs = actor.nanoTime() + ViewRun.LEASE_NS;
    }

    private void begin(final PeerIdentity as, final Set<PeerIdentity> live)
    {
        identity = as;
        since = 0 == since ? as.incarnation() : since;
        keys = new RegionKeys();
        views = new MemoryViews(keys);
        fenced.clear();
        admission = new ComputeAdmission(as.incarnation(), live);
        isRegistering = false;
        closedNumber = 0;
        closedAttempt = 0;
    }

    void send(final Runnable message)
    {
        actor.send(message);
    }

    Set<Long> all()
    {
        final Set<Long> all = new HashSet<>();
        slots.forEach(all::addAll);
        return all;
    }

    void still(final long untilNs)
    {
        actor.stillUntilNs = untilNs;
    }

    /** Its process ends; what it had is in memory that outlives it. */
    void restart()
    {
        actor.process++;
        register();
    }

    /** Its process and its memory end; it comes back with nothing, or with a checkpoint. */
    void forget()
    {
        restart();
        since = 0;
        final boolean hasCheckpoint = run.random.nextBoolean();
        for (int i = 0; i < ViewRun.SLOTS; i++)
        {
            slots.set(i, hasCheckpoint ? new HashSet<>(checkpoint.get(i)) : new HashSet<>());
        }
    }

    /** What it would come back with. */
    void checkpoint()
    {
        checkpoint = slots.stream().map(Set::copyOf).toList();
    }

    /** @return whether it has, or will have, all that landed under an incarnation of it. */
    boolean hasAllSince(final int incarnation)
    {
        return !isLost && 0 != since && since <= incarnation;
    }

    /** Its memory is gone for good, and it does not come back. */
    void lose()
    {
        keys.end();
        actor.process++;
        isLost = true;
    }

    private void register()
    {
        keys.end();
        keys = new RegionKeys();
        views = new MemoryViews(keys);
        admission = null;
        isRegistering = true;
        nextCallNs = actor.nanoTime();
    }

    void act()
    {
        if (isLost || actor.isStill())
        {
            return;
        }
        final long nowNs = actor.nanoTime();
        if (!isRegistering && leaseEndsNs - nowNs <= 0)
        {
            register();
        }
        if (nextCallNs - nowNs > 0)
        {
            return;
        }
        nextCallNs = nowNs + ViewRun.LEASE_NS / 10;
        final ViewRun.Meta meta = run.meta;
        if (isRegistering)
        {
            final int process = actor.process;
            meta.send(() -> meta.register(NodeRole.MEMORY_NODE, identity.nodeId(), memoryId, actor, (as) ->
            {
                if (isRegistering && process == actor.process && as.incarnation() > identity.incarnation())
                {
                    // Who is a member it reads where the meta server shows it; no older than its registration.
                    begin(as, run.meta.liveNodes());
                    leaseEndsNs = nowNs + ViewRun.LEASE_NS;
                }
            }));
            return;
        }
        final PeerIdentity as = identity;
        final int said = since;
        meta.send(() -> meta.heartbeat(as, said, List.of(), () -> { }, actor, (_) ->
        {
            if (as.equals(identity) && !isRegistering)
            {
                leaseEndsNs = Math.max(leaseEndsNs, nowNs + ViewRun.LEASE_NS);
            }
        }, () ->
        {
            if (as.equals(identity) && !isRegistering)
            {
                register();
            }
        }));
    }

    /** @return whether it has fenced a node; false: it is asked again. */
    boolean fence(final PeerIdentity whom)
    {
        if (isLost || isRegistering)
        {
            return false;
        }
        fenced.add(whom);
        views.forget(whom);
        keys.revoke(whom);
        return true;
    }

    boolean close(final View view)
    {
        if (isLost || isRegistering)
        {
            return false;
        }
        try
        {
            final boolean isClosed = views.close(view);
            if (isClosed && (view.number() > closedNumber ||
                view.number() == closedNumber && view.attempt() > closedAttempt))
            {
                closedNumber = view.number();
                closedAttempt = view.attempt();
            }
            return isClosed;
        }
        catch (final RdmaException ex)
        {
            return false;
        }
    }

    boolean fill(final View view)
    {
        return !isLost && !isRegistering && views.fill(view);
    }

    private boolean admits(final PeerIdentity node, final PeerIdentity to)
    {
        return !isLost && !isRegistering && identity.equals(to) && !fenced.contains(node) && admission.admits(node);
    }

    void name(final PeerIdentity node, final PeerIdentity to, final List<LeftView> left)
    {
        if (admits(node, to))
        {
            views.name(node, left);
        }
    }

    /** @return a key, or null when it gets none now. */
    Key connect(final PeerIdentity node, final PeerIdentity to)
    {
        return admits(node, to) && views.mayHaveKey(node) ?
            keys.granted.computeIfAbsent(node, (_) -> new Key()) : null;
    }

    Key connectReconciler(final PeerIdentity node, final PeerIdentity to, final long number, final int attempt)
    {
        if (!admits(node, to) || !views.mayReconcile(node, ViewRun.GROUP, number, attempt))
        {
            return null;
        }
        keys.holders.put(ViewRun.GROUP, node);
        return keys.reconcilers.computeIfAbsent(ViewRun.GROUP, (_) -> new Key());
    }

    /** A WRITE lands, if its key is open. */
    boolean write(final Key key, final int slot, final long operation, final long view)
    {
        if (!key.isOpen)
        {
            return false;
        }
        final View record = run.record();
        final boolean isSurvivor = record.survivors().contains(identity);
        if (isSurvivor && (record.number() > view ||
            record.number() == view && ViewState.RECONCILING == record.state()))
        {
            run.fail("a write of view " + view + " lands");
        }
        if (view <= closedNumber)
        {
            run.fail("a write of view " + view + " lands where view " + closedNumber + " is closed");
        }
        slots.get(slot).add(operation);
        return true;
    }

    /** A copy of a slot lands, if its key is open. */
    boolean copy(final Key key, final int slot, final Set<Long> copied, final long view, final int attempt)
    {
        if (!key.isOpen)
        {
            return false;
        }
        final View record = run.record();
        final boolean isOfRecord =
            record.number() == view && record.attempt() == attempt && ViewState.RECONCILING == record.state();
        if (!isOfRecord && record.survivors().contains(identity) && ViewState.CLOSING != record.state())
        {
            run.fail("a copy of view " + view + " attempt " + attempt + " lands");
        }
        if (view < closedNumber || view == closedNumber && attempt < closedAttempt)
        {
            run.fail("a copy of view " + view + " attempt " + attempt + " lands where attempt " + closedAttempt +
                " is closed");
        }
        slots.set(slot, new HashSet<>(copied));
        return true;
    }

    /** A slot of who is filled lands, if the key is open. */
    void page(final Key key, final int slot, final Set<Long> copied)
    {
        if (key.isOpen)
        {
            if (run.record().survivors().contains(identity))
            {
                run.fail("a page lands at a member");
            }
            slots.set(slot, new HashSet<>(copied));
        }
    }

    /** @return what a READ finds, as it is now; null when its key is closed. */
    Set<Long> read(final Key key, final int slot)
    {
        return key.isOpen ? slots.get(slot) : null;
    }
}
