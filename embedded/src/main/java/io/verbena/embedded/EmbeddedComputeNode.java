package io.verbena.embedded;

import io.verbena.compute.ComputeNode;
import io.verbena.compute.ComputeNodeRunner;
import io.verbena.compute.figures.NodeSpace;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.server.DashboardFigures;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A compute node of an embedded cluster: its device, its agent, its thread. */
final class EmbeddedComputeNode implements ComputeNodeHandle
{
    private static final class LocalRequest extends ControlRequest
    {
        private final CountDownLatch done = new CountDownLatch(1);

        LocalRequest(final Kind kind, final long deadlineNs)
        {
            super(kind, null, 0, deadlineNs);
        }

        @Override
        protected void onDone()
        {
            done.countDown();
        }
    }

    private final Device device;
    private final ComputeNode node;
    private final ComputeNodeRunner runner;
    private final String name;
    private volatile NodeSight.Compute sight = NodeSight.Compute.NONE;
    private long publishedNs;

    EmbeddedComputeNode(
        final Device device, final ComputeNode node, final ComputeNodeRunner runner, final String name)
    {
        this.device = device;
        this.node = node;
        this.runner = runner;
        this.name = name;
        publishedNs = device.clock().nanoTime() - WatchedAgent.PERIOD_NS;
    }

    /** Publishes figures from now on; before the node is started. */
    void watch()
    {
        runner.afterCycles(this::publish);
    }

    private void publish()
    {
        final long nowNs = device.clock().nanoTime();
        if (nowNs - publishedNs >= WatchedAgent.PERIOD_NS)
        {
            publishedNs = nowNs;
            sight = NodeSight.Compute.of(node);
        }
    }

    /** @return what it has published last. */
    NodeSight.Compute sight()
    {
        return sight;
    }

    /** @return figures that are known at any time; a new map. */
    Map<String, Object> figures()
    {
        return DashboardFigures.ofComputeNode(node);
    }

    /** @return its slow operations, the latest first. */
    List<Map<String, Object>> slowOperations()
    {
        return DashboardFigures.slowOperations(name, node.operationFigures().traces());
    }

    String name()
    {
        return name;
    }

    /** @return why it does not serve, one line. */
    String failure()
    {
        return node.state() + (node.failure().isEmpty() ? "" : ": " + node.failure());
    }

    ComputeEndpoint endpoint()
    {
        return node.endpoint();
    }

    void awaitServing(final long timeoutNs)
    {
        runner.awaitServing(timeoutNs);
    }

    /** Asks it to leave, without waiting. */
    void beginLeave()
    {
        node.leave();
    }

    /**
     * Waits until it has left, and frees what it used.
     *
     * @param timeoutNs longest wait; afterwards it is killed.
     * @return true if it left in time.
     */
    boolean leave(final long timeoutNs)
    {
        final boolean left = runner.leave(timeoutNs);
        device.close();
        return left;
    }

    void kill(final long timeoutNs)
    {
        if (!runner.kill(timeoutNs))
        {
            throw new EmbeddedClusterException("thread of compute node " + nodeId() + " did not end in time");
        }
        device.close();
    }

    /**
     * @param timeoutNs longest wait.
     * @return memory that it holds.
     */
    NodeSpace space(final long timeoutNs)
    {
        return (NodeSpace)ask(ControlRequest.Kind.SPACE, timeoutNs);
    }

    /** @return whether something is being reclaimed, as far as is known: so too while the node does not serve. */
    boolean isReclaiming(final long timeoutNs)
    {
        final LocalRequest request = new LocalRequest(ControlRequest.Kind.SPACE, device.clock().nanoTime() + timeoutNs);
        return !isAnswered(request, timeoutNs) || ((NodeSpace)request.result()).isReclaiming();
    }

    /** Lets it begin to reclaim what no word names in its own chunks. */
    void sweep(final long timeoutNs)
    {
        ask(ControlRequest.Kind.SWEEP, timeoutNs);
    }

    private Object ask(final ControlRequest.Kind kind, final long timeoutNs)
    {
        final LocalRequest request = new LocalRequest(kind, device.clock().nanoTime() + timeoutNs);
        if (isAnswered(request, timeoutNs))
        {
            return request.result();
        }
        throw new EmbeddedClusterException("compute node " + nodeId() + " did not answer: " + request);
    }

    private boolean isAnswered(final LocalRequest request, final long timeoutNs)
    {
        try
        {
            return ComputeEndpoint.ACCEPTED == node.endpoint().submit(request) &&
                request.done.await(timeoutNs, TimeUnit.NANOSECONDS) && ControlRequest.Status.OK == request.status();
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * @param timeoutNs longest wait.
     * @return what it has posted so far, or in all its life when it has ended.
     */
    VerbCounters counters(final long timeoutNs)
    {
        final long deadlineNs = device.clock().nanoTime() + timeoutNs;
        final LocalRequest request = new LocalRequest(ControlRequest.Kind.VERB_COUNTERS, deadlineNs);
        try
        {
            if (ComputeEndpoint.ACCEPTED == node.endpoint().submit(request) &&
                request.done.await(timeoutNs, TimeUnit.NANOSECONDS))
            {
                return (VerbCounters)request.result();
            }
            while (null == node.finalCounters() && deadlineNs - device.clock().nanoTime() > 0)
            {
                Thread.sleep(1);
            }
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
        if (null == node.finalCounters())
        {
            throw new EmbeddedClusterException("compute node " + nodeId() + " did not report its counters in time");
        }
        return node.finalCounters();
    }

    @Override
    public int nodeId()
    {
        return node.nodeId();
    }

    @Override
    public int incarnation()
    {
        return node.incarnation();
    }

    @Override
    public boolean isServing()
    {
        return ComputeNode.State.SERVING == node.state();
    }

    @Override
    public long joinToReadyNs()
    {
        return node.timeline().joinToReadyNs();
    }

    @Override
    public long joinToFirstRequestNs()
    {
        return node.timeline().joinToFirstRequestNs();
    }

    @Override
    public String joinBreakdown()
    {
        return node.timeline().breakdown();
    }

    @Override
    public long operationCount()
    {
        return node.operationFigures().answeredCount();
    }

    @Override
    public String toString()
    {
        return node.toString();
    }
}
