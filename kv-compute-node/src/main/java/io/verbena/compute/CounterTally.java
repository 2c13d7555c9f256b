package io.verbena.compute;

import io.verbena.compute.figures.GrowthFigures;
import io.verbena.compute.figures.NodeCounters;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.operation.EngineCounters;

/** What a node has counted in the registrations that have ended, so that its totals do not go back. Its thread's. */
final class CounterTally
{
    private final VerbCounters verbs = new VerbCounters();
    private final EngineCounters engine = new EngineCounters();
    private long splits;
    private long merges;

    /** An attempt to join ends, or has led to a session. */
    void end(final Joining joining)
    {
        verbs.add(joining.counters());
    }

    /** A session ends. */
    void end(final NodeSession session)
    {
        verbs.add(session.counters());
        engine.add(session.engine().counters());
        final GrowthFigures growth = session.growth().figures();
        splits += growth.splits();
        merges += growth.merges();
    }

    /**
     * @param joining under way, or not.
     * @param session under way; null for none.
     * @return a copy of all that was counted until now.
     */
    NodeCounters total(final Joining joining, final NodeSession session)
    {
        final VerbCounters allVerbs = new VerbCounters().add(verbs).add(joining.counters());
        final EngineCounters allEngine = new EngineCounters().add(engine);
        if (null != session)
        {
            allVerbs.add(session.counters());
            allEngine.add(session.engine().counters());
        }
        final GrowthFigures growth = null == session ? GrowthFigures.NONE : session.growth().figures();
        return new NodeCounters(allVerbs, allEngine, growth.after(splits, merges));
    }
}
