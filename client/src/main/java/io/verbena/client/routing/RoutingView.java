package io.verbena.client.routing;

import io.verbena.protocol.request.ComputeEndpoint;

import java.util.Arrays;

/**
 * Which node an operation goes to, for one set of nodes; immutable. Operations of one key go to one node, because then
 * that node's location cache knows the key after the first operation (a cached GET takes one round trip instead of two,
 * and the caches of n nodes hold n times as many keys as when each holds all), and because writers of one key meet in
 * one engine instead of racing with CMP_SWAPs across nodes. Correctness does not depend on it: any node serves any key,
 * so a refused operation simply goes to the next one.
 *
 * <p>Keys are hashed to {@link #PARTITIONS} partitions, each given to the node with the highest hash of (node,
 * partition): when a node comes or goes, only the keys it takes or leaves change their node.
 */
final class RoutingView
{
    static final int PARTITIONS = 1024;

    private final ComputeEndpoint[] endpoints;
    private final short[] assignment = new short[PARTITIONS];

    RoutingView(final ComputeEndpoint[] endpoints)
    {
        this.endpoints = endpoints;
        for (int partition = 0; partition < PARTITIONS; partition++)
        {
            assignment[partition] = (short)heaviest(partition);
        }
    }

    /**
     * @param key any.
     * @return its partition, 0 to {@link #PARTITIONS} - 1, the same in every view.
     */
    static int partition(final byte[] key)
    {
        return (int)(mix(Arrays.hashCode(key)) >>> 32) & (PARTITIONS - 1);
    }

    /**
     * @param partition of the key.
     * @param attempt   0 for the preferred node, counting up through all others.
     * @return the node; there must be one.
     */
    ComputeEndpoint endpoint(final int partition, final int attempt)
    {
        return endpoints[(assignment[partition] + attempt) % endpoints.length];
    }

    int count()
    {
        return endpoints.length;
    }

    /** @return the nodes; not to be changed. */
    ComputeEndpoint[] endpoints()
    {
        return endpoints;
    }

    private int heaviest(final int partition)
    {
        int best = 0;
        long bestWeight = Long.MIN_VALUE;
        for (int i = 0; i < endpoints.length; i++)
        {
            final long weight = mix(((long)endpoints[i].id() << 32) | partition);
            if (weight > bestWeight)
            {
                best = i;
                bestWeight = weight;
            }
        }
        return best;
    }

    /** The finaliser of MurmurHash3: every bit of the result depends on every bit of the value. */
    private static long mix(final long value)
    {
        long mixed = value;
        mixed = (mixed ^ (mixed >>> 33)) * 0xff51afd7ed558ccdL;
        mixed = (mixed ^ (mixed >>> 33)) * 0xc4ceb9fe1a85ec53L;
        return mixed ^ (mixed >>> 33);
    }

    @Override
    public String toString()
    {
        return Arrays.toString(Arrays.stream(endpoints).mapToInt(ComputeEndpoint::id).toArray());
    }
}
