package io.verbena.elle.txn;

import io.verbena.elle.history.History;
import io.verbena.elle.history.Operation;
import io.verbena.elle.txn.graph.GraphBuilder;
import io.verbena.elle.txn.isolation.EdgeKind;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Adds what the history itself says about order: that of each process, and real time.
 *
 * <p>A transaction of unknown outcome may happen at any time after its call: others come before it, but it comes before
 * none. Failed ones take no part.
 */
final class OrderEdges
{
    private static final int NOTHING = -1;

    private OrderEdges()
    {
    }

    static void addTo(final GraphBuilder graph, final History history)
    {
        addProcesses(graph, history.operations());
        addRealTime(graph, history.operations());
    }

    private static void addProcesses(final GraphBuilder graph, final List<Operation> operations)
    {
        final Map<Integer, Integer> lastOfProcess = new HashMap<>();
        for (final Operation operation : operations)
        {
            if (operation.isFail())
            {
                continue;
            }
            final Integer process = operation.process();
            final Integer last = lastOfProcess.get(process);
            if (last != null)
            {
                graph.link(last, operation.id(), EdgeKind.PROCESS.bit());
            }
            if (operation.isOk())
            {
                lastOfProcess.put(process, operation.id());
            }
        }
    }

    /**
     * Draws real time as one chain of junctions, each standing for a moment: whatever was over by then leads into it,
     * whatever was called after it and before the next is led to. So n transactions need at most 3n edges, however many
     * ran at once, and one transaction before another is always a single edge.
     */
    private static void addRealTime(final GraphBuilder graph, final List<Operation> operations)
    {
        final int[] events = eventsByPosition(operations);
        final int kind = EdgeKind.REALTIME.bit();
        int moment = NOTHING;
        boolean calledSinceMoment = true;
        for (final int event : events)
        {
            if (event == NOTHING)
            {
                continue;
            }
            final int id = event >>> 1;
            final boolean isCall = (event & 1) == 0;
            if (isCall && moment != NOTHING)
            {
                graph.link(moment, id, kind);
                calledSinceMoment = true;
            }
            else if (!isCall)
            {
                if (moment == NOTHING || calledSinceMoment)
                {
                    final int next = graph.addJunction();
                    if (moment != NOTHING)
                    {
                        graph.link(moment, next, kind);
                    }
                    moment = next;
                    calledSinceMoment = false;
                }
                graph.link(id, moment, kind);
            }
        }
    }

    /**
     * What happened, in order: twice the id for a call, one more for the completion of a transaction that happened, -1
     * for what says nothing.
     */
    static int[] eventsByPosition(final List<Operation> operations)
    {
        int last = 0;
        for (final Operation operation : operations)
        {
            last = Math.max(last, operation.callPosition());
            last = operation.isOk() ? Math.max(last, operation.endPosition()) : last;
        }
        final int[] events = new int[last + 1];
        Arrays.fill(events, NOTHING);
        for (final Operation operation : operations)
        {
            if (!operation.isFail())
            {
                events[operation.callPosition()] = operation.id() << 1;
                if (operation.isOk())
                {
                    events[operation.endPosition()] = operation.id() << 1 | 1;
                }
            }
        }
        return events;
    }
}
