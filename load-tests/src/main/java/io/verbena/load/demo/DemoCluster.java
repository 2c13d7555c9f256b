package io.verbena.load.demo;

import io.verbena.client.KvClient;
import io.verbena.embedded.ComputeNodeHandle;

/**
 * The cluster that a demo runs on: meta servers, memory nodes, and at first one compute node. Used by one thread,
 * except {@link #close()}.
 */
public interface DemoCluster extends AutoCloseable
{
    /** What {@link #oneSidedVerbs()} answers where nobody can count them all. */
    long NOT_COUNTED = -1;

    /** Starts clusters. */
    @FunctionalInterface
    interface Starter
    {
        /**
         * Starts a cluster.
         *
         * @param needs of the demo.
         * @return the cluster, closed by the caller.
         * @throws io.verbena.load.LoadException when it cannot be started.
         */
        DemoCluster start(Needs needs);
    }

    /**
     * What a demo asks for.
     *
     * @param fabric             name of the fabric, where the cluster has not one of its own.
     * @param memoryNodes        1 or more.
     * @param memoryBytesPerNode registered memory of each.
     * @param timeoutNs          deadline of the client's operations that name none.
     */
    record Needs(String fabric, int memoryNodes, long memoryBytesPerNode, long timeoutNs)
    {
    }

    /** @return the client of the demo; closed with the cluster. */
    KvClient client();

    /** @return name of the fabric that the cluster is on. */
    String fabric();

    /** @return how many meta servers there are: 1, or a group. */
    default int metaServers()
    {
        return 1;
    }

    /**
     * Kills the meta server that leads a group of them; returns when its process has ended.
     *
     * @return name of its process.
     */
    default String killMetaLeader()
    {
        throw new IllegalStateException("there is one meta server");
    }

    /**
     * Kills a memory node; returns when its process has ended.
     *
     * @return name of its process; null where memory nodes are no processes, and none is killed.
     */
    default String killMemoryNode()
    {
        return null;
    }

    /**
     * Starts one more compute node.
     *
     * @return the node; it may still be joining.
     */
    ComputeNodeHandle addComputeNode();

    /**
     * Removes the first compute node: see {@link #kills()}.
     *
     * @return its id.
     */
    int removeFirstComputeNode();

    /** @return true if the first compute node is killed, without a warning to anybody; false if it leaves in order. */
    boolean kills();

    /** @return READ, WRITE and atomics at the queue pairs of all compute nodes, or {@link #NOT_COUNTED}. */
    long oneSidedVerbs();

    /**
     * Checks all tables, and the memory they are in. Called when the load has ended.
     *
     * @return what was found.
     */
    TableCheckFigures checkTables();

    /** Ends the cluster with all its records. */
    @Override
    void close();
}
