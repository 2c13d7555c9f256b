package io.verbena.rdma.sim.explore;

import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.sim.device.SimMessage;
import io.verbena.rdma.sim.device.SimResponder;
import io.verbena.rdma.sim.schedule.ExploredDecisions;
import io.verbena.rdma.sim.schedule.SimChoice;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimFailureException;
import io.verbena.rdma.sim.schedule.SimParty;
import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongUnaryOperator;

/**
 * One run of a {@link SimExplorer}: devices, actors, and the transitions that are possible now. A scenario uses it to
 * build what is explored and, before and after the exploration, to run single actors to their end.
 */
public final class SimExploration
{
    /** Local clocks go on by this much with each transition of their node: every timer is over by then. */
    private static final long TIMER_NS = 1_000_000_000L;
    private static final int MOST_CALLS = 10_000;

    /** A device with production code on it. */
    private final class Node
    {
        private final SimDevice device;
        private final SimActor actor;
        private final boolean mayCrash;
        private long clockNs = 1;
        private boolean isStarted;

        private Node(final SimDevice device, final SimActor actor, final boolean mayCrash)
        {
            this.device = device;
            this.actor = actor;
            this.mayCrash = mayCrash;
        }

        private boolean isOver()
        {
            return device.isKilled() || actor.isDone();
        }

        private boolean isDue()
        {
            return !device.isKilled() && state.isUnseen(device);
        }

        private void look()
        {
            clockNs += TIMER_NS;
            rest(this);
        }
    }

    /** Something that can happen next. */
    private record Transition(Kind kind, SimStep step, Node node)
    {
        private enum Kind
        {
            STOP, HAPPEN, LOOK, TIMER, LOSE, CRASH
        }
    }

    private final SimExplorerOptions options;
    private final SimFabric fabric;
    private final ExploredAgenda agenda;
    private final StateHash state = new StateHash();
    private final List<SimDevice> devices = new ArrayList<>();
    private final List<Node> nodes = new ArrayList<>();
    private final List<Transition> possible = new ArrayList<>();
    /** Devices of which a request has executed since the exploration began. */
    private final Set<SimParty> begun = new HashSet<>();
    private int crashes;
    private int losses;

    SimExploration(final ExploredDecisions decisions, final SimExplorerOptions options)
    {
        this.options = options;
        this.agenda = new ExploredAgenda(options.late());
        this.fabric = new SimFabric(decisions, SimFabricOptions.calm().tearing(options.lines())
            .readOvertakenByWrite(options.weakOrder()).readAfterAtomicNeedsFence(options.weakOrder()), null, agenda);
        fabric.observe(state);
    }

    /** @return the fabric, for connecting devices; its {@code step()} executes what concerns one node only. */
    public SimFabric fabric()
    {
        return fabric;
    }

    /**
     * Opens a device.
     *
     * @param name in schedules.
     * @return the device.
     */
    public SimDevice addDevice(final String name)
    {
        final SimDevice device = fabric.openDevice(name);
        devices.add(device);
        return device;
    }

    /**
     * Puts production code on a device.
     *
     * @param device   of its own; its clock goes on by a second with each transition of the device.
     * @param actor    called whenever something happens to the device.
     * @param mayCrash whether the bound on crashes may be used on it.
     */
    public void addActor(final SimDevice device, final SimActor actor, final boolean mayCrash)
    {
        final Node node = new Node(device, actor, mayCrash);
        nodes.add(node);
        device.clock(() -> node.clockNs);
        state.addHistory(device);
    }

    /**
     * Runs one actor to its end, with the requests of all others standing still.
     *
     * @param actor one of those added.
     * @throws SimFailureException when it does not end.
     */
    public void finish(final SimActor actor)
    {
        final Node node = nodes.stream().filter(one -> one.actor == actor).findFirst().orElseThrow();
        rest(node);
        for (int i = 0; !node.actor.isDone(); i++)
        {
            final SimStep step = agenda.choices().stream()
                .filter(choice -> choice.choice.requester() == node.device.host()).findFirst().orElse(null);
            if (i > MOST_CALLS || node.device.isKilled())
            {
                throw new SimFailureException("an actor that runs alone does not end: " + actor.roleName(), null);
            }
            if (step == null)
            {
                node.clockNs += TIMER_NS;
                rest(node);
            }
            else
            {
                happen(step);
                restAll();
            }
        }
    }

    /** Runs those who live to their ends, one after the other. */
    void finishAll()
    {
        nodes.stream().filter(node -> !node.isOver()).forEach(node -> finish(node.actor));
    }

    /** Everybody gets to where only a choice helps. */
    void start()
    {
        drainLocal();
        nodes.forEach(this::rest);
        restAll();
        begun.clear();
    }

    /**
     * Whether anything of a device has taken effect: as long as nothing has, whatever its actor works on might just as
     * well begin only now.
     *
     * @param device of an actor.
     * @return whether a request of it has executed, wholly or in part, since the exploration began.
     */
    public boolean hasBegun(final SimDevice device)
    {
        return begun.contains(device.host());
    }

    /** @return how many transitions are possible now; 0: this run is over. */
    int choices()
    {
        possible.clear();
        final boolean isOver = nodes.stream().allMatch(Node::isOver);
        final List<SimStep> choices = agenda.choices();
        if (isOver && !choices.isEmpty())
        {
            possible.add(new Transition(Transition.Kind.STOP, null, null));
        }
        choices.forEach(step -> possible.add(new Transition(Transition.Kind.HAPPEN, step, null)));
        for (final Node node : nodes)
        {
            if (node.isOver())
            {
                continue;
            }
            if (node.isDue())
            {
                possible.add(new Transition(Transition.Kind.LOOK, null, node));
            }
            else if (choices.stream().noneMatch(step -> step.choice.requester() == node.device.host()))
            {
                possible.add(new Transition(Transition.Kind.TIMER, null, node));
            }
        }
        if (losses < options.mostLosses())
        {
            choices.stream().filter(SimExploration::mayBeLost)
                .forEach(step -> possible.add(new Transition(Transition.Kind.LOSE, step, null)));
        }
        for (final Node node : nodes)
        {
            if (!isOver && !node.isOver() && node.mayCrash && crashes < options.mostCrashes())
            {
                possible.add(new Transition(Transition.Kind.CRASH, null, node));
            }
        }
        return possible.size();
    }

    /** @return who does what by a choice: the same number as long as nothing else of theirs has happened. */
    long identity(final int choice)
    {
        final Transition transition = possible.get(choice);
        final long kind = (long)transition.kind.ordinal() << 48;
        return transition.kind == Transition.Kind.STOP ? kind : transition.node != null ?
            kind | transition.node.device.index() :
            kind | (long)transition.step.device << 32 | transition.step.detail;
    }

    /** @return whether two choices lead to the same state in either order, and neither makes the other impossible. */
    boolean commute(final int one, final int other)
    {
        final Transition first = possible.get(one);
        final Transition second = possible.get(other);
        final Node node = nodeOf(first);
        final Node otherNode = nodeOf(second);
        if (node == null || otherNode == null || node == otherNode || !node.actor.isOnItsOwn() ||
            !otherNode.actor.isOnItsOwn())
        {
            return false;
        }
        if (first.step == null || second.step == null)
        {
            // There may be no room for two crashes.
            return (first.kind != second.kind || first.kind == Transition.Kind.TIMER) &&
                isPlain(first) && isPlain(second);
        }
        return isPlain(first) && isPlain(second) &&
            ((SimResponder)first.step.choice).commutesWith((SimResponder)second.step.choice);
    }

    /** A timer, a crash, or an access to memory that no actor looks at but by such accesses. */
    private boolean isPlain(final Transition transition)
    {
        return transition.step == null || transition.step.choice instanceof SimResponder responder &&
            nodeOf(responder.at()) == null && responder.touchesMemoryOnly();
    }

    /** Whose choice it is, or null. */
    private Node nodeOf(final Transition transition)
    {
        return transition.step == null ? transition.node : nodeOf(transition.step.choice.requester());
    }

    private Node nodeOf(final SimParty host)
    {
        for (final Node node : nodes)
        {
            if (node.device.host() == host)
            {
                return node;
            }
        }
        return null;
    }

    /** @return the transition in words. */
    String describe(final int choice)
    {
        final Transition transition = possible.get(choice);
        return switch (transition.kind)
        {
            case STOP -> "nothing more lands";
            case HAPPEN -> describe(transition.step.choice);
            case LOOK -> transition.node.device.name() + " looks";
            case TIMER -> transition.node.device.name() + " waits no longer";
            case LOSE -> describe(transition.step.choice) + ", lost";
            case CRASH -> transition.node.device.name() + " crashes";
        };
    }

    /** @return false when the run is over by this choice. */
    boolean take(final int choice)
    {
        final Transition transition = possible.get(choice);
        switch (transition.kind)
        {
            case STOP ->
            {
                return false;
            }
            case HAPPEN -> happen(transition.step);
            case LOOK -> transition.node.look();
            case TIMER ->
            {
                state.onShown(transition.node.device.host(), TIMER_NS);
                transition.node.look();
            }
            case LOSE ->
            {
                losses++;
                agenda.take(transition.step);
                if (transition.step.choice instanceof SimResponder responder)
                {
                    responder.lose();
                }
                drainLocal();
            }
            case CRASH ->
            {
                crashes++;
                transition.node.device.kill();
                drainLocal();
            }
        }
        if (!options.late())
        {
            restAll();
        }
        return true;
    }

    /** Everything that decides what can happen from here on. */
    long stateHash(final Set<StatePart> parts, final LongUnaryOperator names)
    {
        final StateWords words = new StateWords(parts, names);
        words.in(StatePart.NODES).accept((long)crashes << 32 | losses);
        for (final SimDevice device : devices)
        {
            final Node node = nodeOf(device.host());
            state.describe(words, device, node == null ? SimActor.HISTORY : node.actor.stateHash(), names);
        }
        agenda.describe(words);
        return words.hash();
    }

    void close()
    {
        fabric.close();
    }

    private static boolean mayBeLost(final SimStep step)
    {
        return step.choice instanceof SimMessage message ? message.isDatagram() :
            step.choice instanceof SimResponder responder && !responder.isReliable();
    }

    private static String describe(final SimChoice choice)
    {
        final SimParty requester = choice.requester();
        return requester.name() + (requester.isKilled() ? " (crashed): " : ": ") + choice +
            (choice.isResponse() ? "" : " at " + choice.at().name());
    }

    private void happen(final SimStep step)
    {
        begun.add(step.choice.requester());
        agenda.take(step);
        fabric.waitUntil(step.choice.readyNs());
        fabric.execute(step);
        drainLocal();
    }

    /** Calls each actor whose device has shown it something new. */
    private void restAll()
    {
        for (int i = 0; i < nodes.size(); i++)
        {
            final Node node = nodes.get(i);
            if (node.isDue())
            {
                node.look();
                i = -1;
            }
        }
    }

    /** Calls an actor until it has nothing to do and everything that only concerns single nodes has happened. */
    private void rest(final Node node)
    {
        try
        {
            if (!node.isStarted)
            {
                node.isStarted = true;
                node.actor.onStart();
            }
            for (int i = 0; !node.device.isKilled(); i++)
            {
                final int worked = node.actor.doWork();
                if (!drainLocal() && worked == 0)
                {
                    state.looked(node.device);
                    return;
                }
                if (i > MOST_CALLS)
                {
                    throw new SimFailureException("an actor never rests: " + node.actor.roleName(), null);
                }
            }
        }
        catch (final SimFailureException ex)
        {
            throw ex;
        }
        catch (final Exception | AssertionError ex)
        {
            throw new SimFailureException(node.device.name() + " threw " + ex, ex);
        }
    }

    private boolean drainLocal()
    {
        boolean isSome = false;
        while (fabric.step())
        {
            isSome = true;
        }
        return isSome;
    }
}
