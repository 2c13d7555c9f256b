package io.verbena.cli.autoscale;

import java.util.List;
import java.util.function.Consumer;

/** The compute nodes that an autoscaler starts and ends: processes of this host, or nodes elsewhere. */
interface Fleet extends AutoCloseable
{
    /**
     * What there is.
     *
     * @param live    nodes that live, whether or not they report.
     * @param spares  nodes that are ready and have no clients sent to them.
     * @param dead    names of nodes that were started, were not ended, and died.
     * @param samples of the nodes that report.
     * @param obstacle why no node can be started now, one line, such as a meta server that is unreachable; or null.
     */
    record State(int live, int spares, List<String> dead, List<DemandSample> samples, String obstacle)
    {
    }

    /**
     * Looks at the nodes, within a deadline for each of them.
     *
     * @return what there is.
     */
    State observe();

    /**
     * Starts or ends nodes until there are so many, instead of dead ones, too. Returns when those that were started
     * serve, and those that were ended are gone, or throws
     * {@link io.verbena.cli.console.CommandFailedException}; each step has a deadline.
     *
     * @param nodes    that there are to be.
     * @param progress takes a line for each node.
     */
    void resize(int nodes, Consumer<String> progress);

    /**
     * Has as many spares as that, from which {@link #resize} takes first: begins to start or end some, and does not
     * wait for it.
     *
     * @param spares that there are to be, 0 or more.
     * @return why the last attempt failed, one line, once for each; null when nothing did.
     */
    String keepSpares(int spares);

    /** Ends launches that are under way, and leaves all nodes. */
    @Override
    default void close()
    {
    }
}
