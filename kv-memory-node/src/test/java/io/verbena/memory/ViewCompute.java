package io.verbena.memory;

import io.verbena.protocol.view.KnownViews;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.PeerIdentity;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A compute node of a {@link ViewRun}: what it knows and says is production code; ports and requests are modelled. */
final class ViewCompute
{
    /** What a compute node leaves out. */
    enum Flaw
    {
        /** It goes on with its port when it hears that the view is over. */
        LEAVE,
        /** Who reconciles begins again when it does not know what became of a request. */
        ABANDON
    }

    /** The members of one view, or who is filled in it, with the keys to them. */
    private final class Port
    {
        private final View view;
        private final List<PeerIdentity> targets;
        private final Map<PeerIdentity, ViewMemory.Key> keys = new HashMap<>();
        private long nextAskNs = actor.nanoTime();
        private int underWay;
        private long brokenAtNs;

        private Port(final View view, final List<PeerIdentity> targets)
        {
            this.view = view;
            this.targets = targets;
        }

        private boolean isReady()
        {
            return keys.keySet().containsAll(targets);
        }
    }

    /** Making the members equal, for one attempt. */
    private static final class Copying
    {
        private int slot;
        private int underWay;
        private boolean isDone;
        private boolean isAbandoned;
    }

    /** That are copied to who is filled, before that is over. */
    private static final int PAGES = 6;

    private final ViewRun run;
    private final ViewRun.Actor actor;
    private PeerIdentity identity;
    private KnownViews known = new KnownViews();
    private Port port;
    private Port reconciling;
    private Copying copying;
    private Port filling;
    /** That are under way or have landed where this node fills. */
    private int pages;
    private long leaseEndsNs;
    private long nextCallNs;

    ViewCompute(final ViewRun run)
    {
        this.run = run;
        actor = run.new Actor()
        {
        };
        nextCallNs = actor.nanoTime();
    }

    void still(final long untilNs)
    {
        actor.stillUntilNs = untilNs;
    }

    void restart()
    {
        actor.process++;
        forget();
    }

    private void forget()
    {
        identity = null;
        known = new KnownViews();
        port = null;
        reconciling = null;
        copying = null;
        filling = null;
        nextCallNs = actor.nanoTime();
    }

    private boolean hasLease()
    {
        return null != identity && leaseEndsNs - actor.nanoTime() > 0;
    }

    void act()
    {
        if (actor.isStill())
        {
            return;
        }
        if (null != identity && !hasLease())
        {
            forget();
        }
        final long nowNs = actor.nanoTime();
        if (nextCallNs - nowNs <= 0)
        {
            nextCallNs = nowNs + ViewRun.LEASE_NS / (null == identity ? 5 : 20);
            call(nowNs);
        }
        if (hasLease())
        {
            if (null != port && known.isActive(ViewRun.GROUP, port.view.number()) ||
                null != port && run.flaws.contains(Flaw.LEAVE))
            {
                work(port);
            }
            if (null != reconciling)
            {
                reconcile(reconciling);
            }
            if (null != filling)
            {
                fill(filling);
            }
        }
    }

    private void call(final long nowNs)
    {
        final ViewRun.Meta meta = run.meta;
        final int process = actor.process;
        final PeerIdentity as = identity;
        if (null == as)
        {
            meta.send(() -> meta.register(NodeRole.COMPUTE_NODE, 0, 0, actor, (given) ->
            {
                if (null == identity && process == actor.process)
                {
                    identity = given;
                    leaseEndsNs = nowNs + ViewRun.LEASE_NS;
                }
            }));
            return;
        }
        final List<LeftView> left = known.left();
        final Runnable report = report(meta, as);
        meta.send(() -> meta.heartbeat(as, 0, left, report, actor, (views) ->
        {
            if (as.equals(identity))
            {
                leaseEndsNs = Math.max(leaseEndsNs, nowNs + ViewRun.LEASE_NS);
                views.forEach(this::hear);
            }
        }, () ->
        {
            if (as.equals(identity))
            {
                forget();
            }
        }));
    }

    private Runnable report(final ViewRun.Meta meta, final PeerIdentity as)
    {
        final boolean isDone = null != copying && copying.isDone;
        final boolean isAbandoned = null != copying && copying.isAbandoned;
        final long number = null == reconciling ? 0 : reconciling.view.number();
        final int attempt = null == reconciling ? 0 : reconciling.view.attempt();
        final ViewAttempt filled = null == filling || pages < PAGES ? null : ViewAttempt.of(filling.view);
        final boolean isEnough = pages > PAGES;
        return () ->
        {
            if (null != filled)
            {
                meta.conductor().views().onReconciled(as, filled, isEnough);
            }
            else if (isDone)
            {
                meta.conductor().views().onReconciled(as, new ViewAttempt(ViewRun.GROUP, number, attempt), true);
            }
            else if (isAbandoned)
            {
                meta.conductor().views().onReconciled(as, new ViewAttempt(ViewRun.GROUP, number, attempt), false);
            }
        };
    }

    private void hear(final View view)
    {
        if (known.hear(view))
        {
            if (!run.flaws.contains(Flaw.LEAVE) || null == port || ViewState.ACTIVE == view.state())
            {
                port = ViewState.ACTIVE != view.state() ? null : null != port && port.view.number() == view.number() ?
                    port : new Port(view, view.survivors());
            }
            reconciling = null;
            copying = null;
            filling = view.isFilling() && view.reconciler().equals(identity) ?
                new Port(view, List.of(view.members().getLast(), view.entering())) : null;
            pages = 0;
            if (ViewState.RECONCILING == view.state() && view.reconciler().equals(identity))
            {
                reconciling = new Port(view, view.closers());
                copying = new Copying();
            }
        }
    }

    /** Names what it has left, then asks for a key; two messages, as over a connection that has no key yet. */
    private void ask(final Port of, final boolean isReconciler)
    {
        final long nowNs = actor.nanoTime();
        if (of.nextAskNs - nowNs > 0)
        {
            return;
        }
        of.nextAskNs = nowNs + ViewRun.LEASE_NS / 50;
        final PeerIdentity as = identity;
        final List<LeftView> left = known.left();
        for (final PeerIdentity member : of.targets)
        {
            if (!of.keys.containsKey(member))
            {
                final ViewMemory node = run.memory(member.nodeId());
                node.send(() -> node.name(as, member, left));
                node.send(() ->
                {
                    final ViewMemory.Key key = isReconciler ?
                        node.connectReconciler(as, member, of.view.number(), of.view.attempt()) :
                        node.connect(as, member);
                    if (null != key)
                    {
                        actor.send(() -> of.keys.putIfAbsent(member, key));
                    }
                });
            }
        }
    }

    private void breakPort(final Port of)
    {
        if (port == of)
        {
            port = new Port(of.view, of.targets);
        }
    }

    private void work(final Port of)
    {
        if (!of.isReady())
        {
            ask(of, false);
        }
        if (!of.isReady() && run.isQuiet)
        {
            return;
        }
        if (of.underWay < 3)
        {
            switch (run.random.nextInt(6))
            {
                case 0 -> read(of);
                case 1 -> write(of);
                default ->
                {
                    // Between two requests.
                }
            }
        }
        else if (0 == of.brokenAtNs)
        {
            of.brokenAtNs = actor.nanoTime() + ViewRun.LEASE_NS;
        }
        else if (of.brokenAtNs - actor.nanoTime() <= 0)
        {
            breakPort(of);
        }
    }

    private boolean mayAnswer(final Port of)
    {
        return port == of && hasLease();
    }

    private void checkAnswer(final Port of)
    {
        final View record = run.record();
        if (record.number() > of.view.number() ||
            record.number() == of.view.number() && ViewState.RECONCILING == record.state())
        {
            run.fail("an answer of view " + of.view.number());
        }
    }

    /** Answered when it has landed on all members. */
    private void write(final Port of)
    {
        final long operation = ++run.operations;
        final int slot = run.random.nextInt(ViewRun.SLOTS);
        final List<PeerIdentity> members = of.view.survivors();
        final int[] missing = {members.size()};
        of.underWay++;
        for (final PeerIdentity member : members)
        {
            final ViewMemory.Key key = of.keys.get(member);
            if (null == key)
            {
                // It goes where it can; without this member it is never answered.
                continue;
            }
            run.later(run.delayNs(), () ->
            {
                final boolean isWritten = run.memory(member.nodeId()).write(key, slot, operation, of.view.number());
                complete(() ->
                {
                    if (!isWritten)
                    {
                        breakPort(of);
                    }
                    else if (0 == --missing[0])
                    {
                        of.underWay--;
                        of.brokenAtNs = 0;
                        if (mayAnswer(of))
                        {
                            checkAnswer(of);
                            run.answer(operation);
                        }
                    }
                });
            });
        }
    }

    private void read(final Port of)
    {
        final PeerIdentity primary = of.view.members().getLast();
        if (!of.keys.containsKey(primary))
        {
            return;
        }
        final Set<Long> unseen = new HashSet<>(run.latest);
        final int[] missing = {ViewRun.SLOTS};
        of.underWay++;
        for (int slot = 0; slot < ViewRun.SLOTS; slot++)
        {
            final int each = slot;
            final ViewMemory.Key key = of.keys.get(primary);
            run.later(run.delayNs(), () ->
            {
                final Set<Long> read = run.memory(primary.nodeId()).read(key, each);
                final boolean isRefused = null == read;
                unseen.removeIf((operation) -> !isRefused && read.contains(operation));
                complete(() ->
                {
                    if (isRefused)
                    {
                        breakPort(of);
                        return;
                    }
                    if (0 == --missing[0])
                    {
                        of.underWay--;
                        of.brokenAtNs = 0;
                        if (mayAnswer(of))
                        {
                            checkAnswer(of);
                            if (!unseen.isEmpty())
                            {
                                run.fail("stale answer");
                            }
                        }
                    }
                });
            });
        }
    }

    /** A completion: of this process, when it is not standing still; late. */
    private void complete(final Runnable completion)
    {
        final int process = actor.process;
        run.later(run.random.nextLong(ViewRun.MS), () ->
        {
            if (process != actor.process)
            {
                return;
            }
            if (actor.isStill())
            {
                complete(completion);
            }
            else
            {
                completion.run();
            }
        });
    }

    private void reconcile(final Port of)
    {
        if (copying.isDone || copying.isAbandoned || copying.underWay > 0)
        {
            return;
        }
        if (!of.isReady())
        {
            ask(of, true);
        }
        else if (copying.slot == ViewRun.SLOTS)
        {
            copying.isDone = true;
        }
        else if (!run.isQuiet && 0 == run.random.nextInt(20))
        {
            onUnknown();
        }
        else
        {
            copy(of, copying);
        }
    }

    /** Copies of slots of which nothing is awaited: they are torn and old, and some come late. */
    private void fill(final Port of)
    {
        if (!of.isReady())
        {
            ask(of, false);
        }
        else if (pages < PAGES && 0 == run.random.nextInt(4))
        {
            final int slot = run.random.nextInt(ViewRun.SLOTS);
            final PeerIdentity source = of.targets.getFirst();
            final PeerIdentity target = of.targets.getLast();
            final Set<Long> found = run.memory(source.nodeId()).read(of.keys.get(source), slot);
            pages++;
            pages += pages == PAGES && (run.isQuiet || run.random.nextBoolean()) ? 1 : 0;
            if (null != found)
            {
                final Set<Long> page = Set.copyOf(found);
                run.later(run.slowNs(), () -> run.memory(target.nodeId()).page(of.keys.get(target), slot, page));
            }
        }
    }

    /** A request of which nobody knows what became. */
    private void onUnknown()
    {
        if (run.flaws.contains(Flaw.ABANDON))
        {
            copying = new Copying();
        }
        else
        {
            copying.isAbandoned = true;
        }
    }

    private void copy(final Port of, final Copying work)
    {
        final List<PeerIdentity> copies = of.view.closers();
        final PeerIdentity source = of.view.survivors().getLast();
        final int slot = work.slot;
        work.underWay = 1;
        run.later(run.slowNs(), () ->
        {
            final Set<Long> found = run.memory(source.nodeId()).read(of.keys.get(source), slot);
            final Set<Long> read = null == found ? null : Set.copyOf(found);
            complete(() ->
            {
                if (reconciling != of || copying != work || !hasLease())
                {
                    return;
                }
                work.underWay = null == read ? 0 : copies.size() - 1;
                if (null == read)
                {
                    onUnknown();
                    return;
                }
                work.slot++;
                for (final PeerIdentity member : copies)
                {
                    if (!member.equals(source))
                    {
                        write(of, work, member, slot, read);
                    }
                }
            });
        });
        if (!run.isQuiet)
        {
            run.later(ViewRun.LEASE_NS / 4, () -> onTimeout(of, work, slot));
        }
    }

    private void onTimeout(final Port of, final Copying work, final int slot)
    {
        if (reconciling == of && copying == work && work.underWay > 0 && work.slot <= slot + 1 && !work.isDone)
        {
            onUnknown();
        }
    }

    private void write(
        final Port of, final Copying work, final PeerIdentity member, final int slot, final Set<Long> read)
    {
        run.later(run.slowNs(), () ->
        {
            final boolean isWritten = run.memory(member.nodeId()).copy(
                of.keys.get(member), slot, read, of.view.number(), of.view.attempt());
            complete(() ->
            {
                if (copying == work && !isWritten)
                {
                    onUnknown();
                }
                work.underWay--;
            });
        });
    }
}
