package io.verbena.cli.autoscale.launch;

import java.util.List;

/**
 * Starts and ends compute nodes somewhere. It does not wait until they serve, or have left: who calls it looks at the
 * members of the cluster. Nodes are known by the names that they report ({@code compute-node --name}). Used by one
 * thread at a time. What goes wrong is a {@link io.verbena.cli.console.CommandFailedException} of one line.
 */
public interface Launcher
{
    /**
     * Begins to start nodes.
     *
     * @param count   of them, 1 or more.
     * @param present names of the nodes that are there; empty ones of nodes that report none.
     */
    void start(int count, List<String> present);

    /**
     * Ends nodes, which drain.
     *
     * @param names of nodes that it {@link #owns}; as many are ended, where it cannot choose others than these.
     */
    void end(List<String> names);

    /**
     * Says how many nodes may still come that it was asked to start.
     *
     * @param present names of the nodes that are there.
     * @return 0 or more.
     */
    int coming(List<String> present);

    /** Ends what was begun and has not come, so that nothing comes of it later. */
    void giveUp(List<String> present);

    /**
     * @param name that a node reports; may be empty.
     * @return whether it can be ended by this launcher.
     */
    boolean owns(String name);

    /** @return whether nodes that died come again by themselves. */
    boolean restarts();
}
