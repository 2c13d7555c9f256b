package io.verbena.rdma.sim.explore;

import io.verbena.rdma.sim.schedule.ExploredDecisions;
import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimFailureException;
import io.verbena.rdma.sim.schedule.SplitMix;

import org.agrona.collections.Long2LongHashMap;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Explores all orders in which the requests of a few actors can execute at their targets, with crashes of actors in
 * between, up to stated bounds. Each run starts from the beginning and repeats the choices that led to a state (Java
 * state is not copied); states seen before are not explored again. {@code docs/exploration.md} says what is sound and
 * what the hash assumes.
 */
public final class SimExplorer
{
    private static final long UNSEEN = Long.MAX_VALUE;

    private final SimExplorerOptions options;
    private final Supplier<? extends Scenario> scenarios;
    private Long2LongHashMap depths;
    private SleepSet sleeping;
    private StateGraph graph;
    private long firstState;
    private final List<ExploredFrame> frames = new ArrayList<>();
    private int position;
    private int mostSteps;
    private long runs;
    private long transitions;
    private long pruned;
    private long ends;
    private long cutShort;
    private int longest;
    private boolean isStateBoundHit;
    private boolean isDepthMinded;
    private boolean isReduced;

    /** What is explored; made anew for each run, and deterministic. */
    public interface Scenario
    {
        /**
         * Adds devices and actors and brings them to where the exploration begins.
         *
         * @param run empty.
         */
        void prepare(SimExploration run);

        /**
         * Judges a run in which every actor is done or dead. May run actors on to find out.
         *
         * @param run at its end.
         * @return null when all is well, else what is wrong. Must be a function of the state.
         */
        String verdict(SimExploration run);

        /**
         * Judges each state at which there is a choice; must not change anything.
         *
         * @return null when all is well, else what is wrong. Must be a function of the state.
         */
        default String invariant()
        {
            return null;
        }

        /**
         * What the verdict depends on beside the devices and {@link SimActor#stateHash()}, such as which operations had
         * ended when another one began. Must change only with steps of actors that are not
         * {@link SimActor#isOnItsOwn()} then.
         *
         * @return a 64-bit hash.
         */
        default long stateHash()
        {
            return 0;
        }

        /**
         * What words count as in the state that is hashed next, where it does not matter which ones of a kind they are,
         * only which of them are equal: numbers in the order in which they are met, say. Asked of the memory of devices
         * without an actor first, in the order of their creation, then of what requests carry; {@link
         * SimActor#stateHash()} has to ask it, too. Words of one state must keep apart what differs in it.
         *
         * @return for one state; null where each word counts as itself.
         */
        default LongUnaryOperator names()
        {
            return null;
        }

        /** Frees what the scenario holds, such as production objects; the devices' memory goes after this. */
        default void close()
        {
        }
    }

    /**
     * @param options   bounds.
     * @param scenarios makes what is explored.
     */
    public SimExplorer(final SimExplorerOptions options, final Supplier<? extends Scenario> scenarios)
    {
        this.options = options;
        this.scenarios = scenarios;
    }

    /**
     * Explores until everything is explored, the bound of states is hit, or something is wrong; then looks for a
     * shortest schedule that shows something wrong.
     *
     * @return what was done and found.
     */
    public SimExplorationReport explore()
    {
        mostSteps = options.mostSteps();
        isDepthMinded = false;
        isReduced = options.isReduced();
        SimExplorationReport found = search();
        isDepthMinded = true;
        isReduced = false;
        if (found.cutShort() > 0 && !found.isStateBoundHit())
        {
            // Once more, so that every schedule up to the bound is covered: a state may have been met late first.
            found = search();
        }
        SimExplorationReport shortest = found;
        while (found.violation() != null && found.schedule().size() > 1)
        {
            shortest = found;
            mostSteps = found.schedule().size() - 1;
            found = search();
        }
        return found.violation() != null ? found : shortest;
    }

    /**
     * Runs one schedule.
     *
     * @param choices of a report.
     * @return what is wrong at its end, or null.
     */
    public String replay(final int... choices)
    {
        frames.clear();
        for (final int choice : choices)
        {
            frames.add(ExploredFrame.ofOne(choice));
        }
        forgetStates();
        isReduced = false;
        mostSteps = options.mostSteps();
        return new Run().go();
    }

    private void forgetStates()
    {
        depths = new Long2LongHashMap(UNSEEN);
        sleeping = new SleepSet();
        graph = new StateGraph();
    }

    private SimExplorationReport search()
    {
        forgetStates();
        frames.clear();
        runs = transitions = pruned = ends = cutShort = longest = 0;
        isStateBoundHit = false;
        while (true)
        {
            final Run run = new Run();
            final String violation = run.go();
            runs++;
            longest = Math.max(longest, run.schedule.size());
            if (violation != null)
            {
                return report(violation, run.schedule);
            }
            while (!frames.isEmpty() && !frames.getLast().next())
            {
                frames.removeLast();
            }
            if (frames.isEmpty() || isStateBoundHit)
            {
                return report(null, List.of());
            }
        }
    }

    private SimExplorationReport report(final String violation, final List<String> schedule)
    {
        return new SimExplorationReport(
            violation == null && !isStateBoundHit && cutShort == 0, runs, states(), transitions, pruned, ends,
            violation == null ? graph.paths(firstState) : 0, cutShort, longest, isStateBoundHit, violation,
            List.copyOf(schedule),
            violation == null ? new int[0] : choices());
    }

    private long states()
    {
        return depths.size() + sleeping.states();
    }

    private int[] choices()
    {
        return frames.stream().mapToInt(ExploredFrame::choice).toArray();
    }

    /** One run from the beginning. */
    private final class Run
    {
        private final List<String> schedule = new ArrayList<>();
        private final ExploredDecisions decisions = new ExploredDecisions(this::choose);
        private final SimExploration exploration = new SimExploration(decisions, options);
        private boolean isExploring;
        /** Hash of the last state at which there was a choice. */
        private long state;
        /** What sleeps there, as far as it is a new one. */
        private long asleep;
        /** The step that led there. */
        private int step;
        /** Of the last state, the choices that are to be gone into, and what sleeps there beside them. */
        private ExploredFrame frame;

        private String go()
        {
            position = 0;
            final Scenario scenario = scenarios.get();
            try
            {
                scenario.prepare(exploration);
                exploration.start();
                firstState = stateHash(scenario);
                isExploring = true;
                final String violation = walk(scenario);
                isExploring = false;
                if (position < frames.size())
                {
                    throw notRepeated("it ended early");
                }
                return violation;
            }
            catch (final SimFailureException ex)
            {
                return ex.getMessage();
            }
            finally
            {
                isExploring = false;
                scenario.close();
                exploration.close();
            }
        }

        private long stateHash(final Scenario scenario)
        {
            return exploration.stateHash(options.parts(), scenario.names()) ^ SplitMix.mix(scenario.stateHash());
        }

        private String walk(final Scenario scenario)
        {
            boolean isEdgeNew = false;
            while (true)
            {
                final boolean isNew = position >= frames.size();
                final long from = state;
                if (isNew || position == frames.size() - 1 || options.weakOrder())
                {
                    state = stateHash(scenario);
                }
                if (isEdgeNew)
                {
                    transitions++;
                    graph.add(from, step, state);
                }
                if (isNew && scenario.invariant() != null)
                {
                    return scenario.invariant();
                }
                final int count = exploration.choices();
                if (isNew && isKnown(from, count))
                {
                    pruned++;
                    return null;
                }
                if (count == 0 || isStateBoundHit)
                {
                    return isStateBoundHit ? null : end(scenario);
                }
                if (schedule.size() >= mostSteps)
                {
                    return endByBound(scenario);
                }
                final int choice = choose(count);
                isEdgeNew = position == frames.size();
                step = sleeping.number(exploration.identity(choice));
                if (isEdgeNew && isReduced)
                {
                    asleep = stillAsleep(choice, count);
                }
                schedule.add(exploration.describe(choice));
                if (!exploration.take(choice))
                {
                    transitions += isEdgeNew ? 1 : 0;
                    graph.add(state, step, SplitMix.mix(state));
                    return end(scenario);
                }
            }
        }

        private int choose(final int count)
        {
            // A single choice takes no frame, but may be what something sleeps through.
            if (count > 1 && position == frames.size())
            {
                frames.add(frame);
            }
            final int choice = (int)decisions.next(SimDecision.TRANSITION, 0, count);
            if (count > 1)
            {
                frame = frames.get(position - 1);
            }
            return choice;
        }

        /** Whether nothing new can be found from here; if not, there is a frame of what is to be gone into. */
        private boolean isKnown(final long from, final int count)
        {
            if (!isReduced)
            {
                frame = ExploredFrame.ofAll(count);
                return isSeen();
            }
            final boolean isMet = sleeping.isMet(state);
            isStateBoundHit = !isMet && sleeping.states() >= options.mostStates();
            if (isStateBoundHit)
            {
                return false;
            }
            final long before = isMet ? sleeping.asleep(state) : SleepSet.NONE;
            final long always = sleeping.meet(state, asleep);
            final int[] open = IntStream.range(0, count).filter(choice ->
            {
                final long set = setOf(choice);
                return (set & asleep) == 0 && (!isMet || (set & before) != 0);
            }).toArray();
            if (!isMet)
            {
                graph.addSleeping(state, asleep, from, step);
            }
            frame = new ExploredFrame(open, IntStream.of(open).mapToLong(this::setOf).toArray(), always);
            return open.length == 0 && (isMet || count > 0);
        }

        private long setOf(final int choice)
        {
            return sleeping.set(exploration.identity(choice));
        }

        /** What sleeps behind a choice: what slept before, or was taken, and commutes with it. */
        private long stillAsleep(final int choice, final int count)
        {
            final long candidates = frame.asleep();
            long still = SleepSet.NONE;
            for (int other = 0; other < count && candidates != SleepSet.NONE; other++)
            {
                final long set = setOf(other);
                still |= other != choice && (set & candidates) != 0 && exploration.commute(choice, other) ? set : 0;
            }
            return still;
        }

        private String end(final Scenario scenario)
        {
            ends++;
            isExploring = false;
            return scenario.verdict(exploration);
        }

        /** No more choices: those who live run to their ends, one after the other, and what the dead sent is lost. */
        private String endByBound(final Scenario scenario)
        {
            cutShort++;
            isExploring = false;
            if (mostSteps < options.mostSteps())
            {
                // Looking for a shorter schedule, which has to be one without such an ending.
                return null;
            }
            exploration.finishAll();
            final String violation = scenario.verdict(exploration);
            return violation == null ? null : violation + " (after these, each ran to its end)";
        }

        /** Whether this state was gone into before, with at least as many steps left where the bound matters. */
        private boolean isSeen()
        {
            final long depth = isDepthMinded ? schedule.size() : 0;
            if (depths.get(state) <= depth)
            {
                return true;
            }

            isStateBoundHit = depths.size() >= options.mostStates();
            if (!isStateBoundHit)
            {
                depths.put(state, depth);
            }
            return false;
        }

        private long choose(final long bound)
        {
            if (!isExploring)
            {
                return 0;
            }
            if (position == frames.size())
            {
                frames.add(ExploredFrame.ofAll((int)bound));
            }
            final int choice = frames.get(position++).choice();
            if (choice >= bound)
            {
                throw notRepeated("choice " + choice + " of " + bound);
            }
            return choice;
        }

        private IllegalStateException notRepeated(final String how)
        {
            return new IllegalStateException(
                "the run does not repeat: " + how + " after " + schedule + "; scenarios must be deterministic");
        }
    }

    @Override
    public String toString()
    {
        return "SimExplorer{runs=" + runs + ", frames=" + Arrays.toString(choices()) + '}';
    }
}
