package io.verbena.compute;

import io.verbena.compute.catalog.UserWatch;
import io.verbena.compute.figures.JoinTimeline;
import io.verbena.compute.figures.NodeCounters;
import io.verbena.compute.figures.OperationFigures;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.compute.request.OperationDispatcher;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.DutyLock;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasContext;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.VerbCounters;

import org.agrona.concurrent.Agent;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A compute node: joins the cluster, keeps its lease, and runs operations on one-sided tables for any number of
 * submitting threads. Everything happens in {@link #doWork()}, called by one thread at a time, without blocking; so it
 * runs on a thread of its own that shares it with waiting submitters ({@link ComputeNodeRunner}), or in a simulation.
 *
 * <p>A node whose lease runs out serves nothing until it has joined again, under a new registration: what it had begun
 * ends with OUTCOME_UNKNOWN, what it had not begun, and what comes meanwhile, with NOT_SERVING.
 *
 * <p>What one request meets unexpectedly fails that request, see {@link #failures()}. A RuntimeException out
 * of the engine, the lease or a connection breaks what other operations depend on: it ends the node.
 *
 * <p>{@link #endpoint()}, {@link #state()} and the figures may be used by any thread.
 */
public final class ComputeNode implements Agent
{
    /** Life of a node. */
    public enum State
    {
        /** Not serving yet, or not any more until it has joined again. */
        JOINING,
        /** Takes operations. */
        SERVING,
        /** Finishes what it has begun, and takes nothing new. */
        LEAVING,
        /** Has left in order. */
        LEFT,
        /** Could not join, or was closed without leaving; {@link ComputeNode#failure()} says more. */
        FAILED
    }

    private static final Logger LOGGER = LoggerFactory.getLogger(ComputeNode.class);
    /** Requests refused in one duty cycle. */
    private static final int MAX_REFUSALS = 32;
    /** After a longer sleep the engine is given the time before it begins operations: 1 ms. */
    private static final long STALE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    /** Longest sleep of a node that has nothing to do: 50 ms. */
    private static final long MAX_SLEEP_NS = TimeUnit.MILLISECONDS.toNanos(50);
    /** Longest sleep of a node that awaits something that does not wake it: 50 microseconds. */
    private static final long BUSY_SLEEP_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private final Joining joining;
    private final ComputeNodeConfiguration configuration;
    private final NanoClock clock;
    private final RequestQueue queue;
    private final QueueEndpoint endpoint;
    private final JoinTimeline timeline;
    private final UnexpectedFailures failures;
    private final OperationDispatcher dispatcher;
    private final OperationFigures figures;
    private final CounterTally ended = new CounterTally();
    private NodeSession session;
    private long answeredAtLastLook;
    private long lastCycleNs;
    private volatile int nodeId;
    private volatile int incarnation;
    private volatile int firstIncarnation;
    private volatile State state = State.JOINING;
    private volatile String failure = "";
    private volatile boolean leaveAsked;
    private volatile boolean isMetaServerAway;
    private volatile VerbCounters finalCounters;

    /**
     * @param device        to work on; the caller closes it after the node.
     * @param metaServer    where the meta server is reached.
     * @param configuration read now and later, not to be changed.
     * @param beganNs       when somebody decided to have this node, for {@link #timeline()}.
     */
    public ComputeNode(
        final Device device, final PeerAddress metaServer, final ComputeNodeConfiguration configuration,
        final long beganNs)
    {
        this(device, MetaServerLocator.at(metaServer), configuration, beganNs);
    }

    /** As {@link #ComputeNode(Device, PeerAddress, ComputeNodeConfiguration, long)}, with a meta server that moves. */
    public ComputeNode(
        final Device device, final MetaServerLocator metaServer, final ComputeNodeConfiguration configuration,
        final long beganNs)
    {
        this.configuration = configuration;
        clock = device.clock();
        queue = new RequestQueue(configuration.queueCapacity());
        timeline = new JoinTimeline(beganNs);
        failures = new UnexpectedFailures(clock);
        figures = new OperationFigures(configuration.traces());
        dispatcher = new OperationDispatcher(configuration.operationSlots(), clock, timeline, failures, figures);
        dispatcher.access(UserWatch.before(metaServer));
        endpoint = new QueueEndpoint(
            queue, () -> firstIncarnation, configuration.name(), dispatcher::access, dispatcher.denied());
        joining = new Joining(device, metaServer, configuration, timeline, failures);
    }

    /** @return where requests are handed over; takes them as soon as {@link #state()} is not FAILED or LEFT. */
    public ComputeEndpoint endpoint()
    {
        return endpoint;
    }

    /** @return where it stands. */
    public State state()
    {
        return state;
    }

    /** @return why it is FAILED, or why it had to join again last; empty otherwise. */
    public String failure()
    {
        return failure;
    }

    /** @return id of its present registration; 0 before the first. */
    public int nodeId()
    {
        return nodeId;
    }

    /** @return incarnation of its present registration; 0 before the first. */
    public int incarnation()
    {
        return incarnation;
    }

    /** @return whether the meta server could not be reached last; its lease goes on running then. */
    public boolean isMetaServerAway()
    {
        return isMetaServerAway;
    }

    /** @return when it reached what. */
    public JoinTimeline timeline()
    {
        return timeline;
    }

    /** @return its connections to the meta server and to memory nodes by what carries them. The node's thread. */
    public RaasContext.Transports transports()
    {
        return null == session ? joining.transports() : session.transports();
    }

    /** @return its limits with what is used of each; a new list, empty while it joins. The node's thread. */
    public List<RaasLimit> limits()
    {
        return null == session ? List.of() : session.limits();
    }

    /** @return memory nodes that can be used now. The node's thread. */
    public int reachedMemoryNodes()
    {
        return null == session ? 0 : session.memoryLinks().ready().size();
    }

    /** @return why memory nodes cannot be used now, by their ids; empty when all can be. The node's thread. */
    public Map<Integer, String> memoryNodeFailures()
    {
        return null == session ? Map.of() : session.memoryLinks().failures();
    }

    /** @return counts of what failed unexpectedly and did not end it; any thread. */
    public UnexpectedFailures failures()
    {
        return failures;
    }

    /** @return the operations that it has answered, by kind and answer; any thread. */
    public OperationFigures operationFigures()
    {
        return figures;
    }

    /** @return a copy of what it has counted until now. The node's thread. */
    public NodeCounters counters()
    {
        return ended.total(joining, session);
    }

    /** @return what it posted in all its life, once it is closed; null before (ask by {@link ControlRequest}). */
    public VerbCounters finalCounters()
    {
        return finalCounters;
    }

    /** Asks the node to leave; returns at once, {@link #state()} becomes LEFT. Any thread. */
    public void leave()
    {
        leaveAsked = true;
        queue.wake();
    }

    @Override
    public String roleName()
    {
        return "verbena-" + configuration.name();
    }

    @Override
    public int doWork()
    {
        return doWork(clock.nanoTime());
    }

    /**
     * As {@link #doWork()}.
     *
     * @param nowNs time now, by the clock of the device.
     * @return work done.
     */
    public int doWork(final long nowNs)
    {
        if (State.LEFT == state || State.FAILED == state)
        {
            return refuseAll("node has stopped");
        }
        // First, so that what completes within its doorbell is found in the same cycle.
        int workCount = State.SERVING == state && isServing(nowNs) ? takeRequests(nowNs) : 0;
        if (null == session)
        {
            workCount += pollStart(nowNs);
        }
        else
        {
            workCount += session.poll(nowNs);
            noteMetaServer(session.isMetaServerAway());
            workCount += followSession(nowNs);
        }
        if (!isServing(nowNs))
        {
            workCount += refuseAll(State.LEAVING == state ? "node leaves" : "node joins");
        }
        lastCycleNs = nowNs;
        return workCount;
    }

    /**
     * Takes requests and looks at what has completed, and nothing else of a duty cycle: for who would send answers
     * before the rest of it. Allowed wherever {@link #doWork(long)} is.
     *
     * @param nowNs time now, by the clock of the device.
     * @return work done.
     */
    public int serve(final long nowNs)
    {
        return State.SERVING == state && isServing(nowNs) ? takeRequests(nowNs) + session.pollCompletions() : 0;
    }

    /** @return whether a request waits that threads of this process left. */
    public boolean hasRequests()
    {
        return !queue.isEmpty();
    }

    private boolean isServing(final long nowNs)
    {
        return null != session && session.isServing(nowNs);
    }

    private void noteMetaServer(final boolean isAway)
    {
        if (isAway != isMetaServerAway)
        {
            isMetaServerAway = isAway;
        }
    }

    private int pollStart(final long nowNs)
    {
        if (leaveAsked)
        {
            stop(State.LEFT);
            return 1;
        }
        final int workCount = joining.poll(nowNs);
        if (joining.isUnderWay())
        {
            noteMetaServer(joining.isMetaServerUnreachable());
        }
        if (joining.isRegistered())
        {
            session = joining.begin(dispatcher);
        }
        else if (!joining.failure().isEmpty())
        {
            onSessionFailed(joining.failure(), nowNs);
        }
        else
        {
            refuseLateJoin("REGISTERING", nowNs);
        }
        return workCount;
    }

    private void refuseLateJoin(final String step, final long nowNs)
    {
        if (joining.isLate(nowNs))
        {
            failure = "compute node could not join within its deadline: step=" + step + " " + failure;
            stop(State.FAILED);
        }
    }

    private int followSession(final long nowNs)
    {
        switch (session.step())
        {
            case SERVING ->
            {
                if (State.JOINING == state)
                {
                    nodeId = session.registration().nodeId();
                    incarnation = session.registration().incarnation();
                    firstIncarnation = 0 == firstIncarnation ? incarnation : firstIncarnation;
                    state = State.SERVING;
                    joining.onServing();
                }
                if (leaveAsked)
                {
                    state = State.LEAVING;
                    queue.close();
                    session.leave();
                }
            }
            case LEFT -> stop(State.LEFT);
            case FAILED -> onSessionFailed(session.failure(), nowNs);
            default ->
            {
                if (leaveAsked && State.LEAVING != state)
                {
                    state = State.LEAVING;
                    session.leave();
                }
                else
                {
                    refuseLateJoin(session.step().name(), nowNs);
                }
            }
        }
        return 0;
    }

    private void onSessionFailed(final String why, final long nowNs)
    {
        failure = why;
        closeSession();
        if (leaveAsked)
        {
            stop(State.LEFT);
        }
        else if (joining.isForbidden() || joining.isLate(nowNs))
        {
            failure = "compute node could not join" + (joining.isForbidden() ? "" : " within its deadline") + ": " +
                failure;
            stop(State.FAILED);
        }
        else
        {
            sayWhyItJoinsAgain();
            state = State.JOINING;
            joining.pause(nowNs);
        }
    }

    /** Once for each life that served: who cannot join, for want of a meta server say, tries many times a second. */
    private void sayWhyItJoinsAgain()
    {
        if (State.SERVING == state)
        {
            LOGGER.warn("compute node begins anew: {}; what was under way has an unknown outcome", failure);
        }
    }

    private int takeRequests(final long nowNs)
    {
        if (queue.isEmpty())
        {
            return 0;
        }
        if (nowNs - lastCycleNs > STALE_NS)
        {
            dispatcher.tellTime(nowNs);
        }
        // What has gathered in the queue goes out together.
        dispatcher.beginGroup();
        try
        {
            return acceptRequests(nowNs) + dispatcher.beginWaiting(nowNs);
        }
        finally
        {
            dispatcher.endGroup();
        }
    }

    private int acceptRequests(final long nowNs)
    {
        int taken = 0;
        NodeRequest request;
        while (dispatcher.mayTake(taken) && null != (request = queue.poll()))
        {
            if (request instanceof final OperationRequest operation)
            {
                dispatcher.take(operation, nowNs);
            }
            else
            {
                acceptControl((ControlRequest)request, nowNs);
            }
            taken++;
        }
        return taken;
    }

    private void acceptControl(final ControlRequest request, final long nowNs)
    {
        try
        {
            if (ControlRequest.Kind.VERB_COUNTERS != request.kind())
            {
                session.accept(request, nowNs);
            }
            else if (request.start())
            {
                answerCounters(request);
            }
        }
        catch (final RuntimeException ex)
        {
            request.answer(ControlRequest.Status.REFUSED, null, failures.onFailure(request, ex));
            request.complete();
        }
    }

    private int refuseAll(final String detail)
    {
        int refused = 0;
        NodeRequest request;
        while (refused < MAX_REFUSALS && null != (request = queue.poll()))
        {
            if (request instanceof final OperationRequest operation)
            {
                dispatcher.refuse(operation, OperationAnswer.NOT_SERVING, detail);
            }
            else if (request.start() && !answerCounters((ControlRequest)request))
            {
                ((ControlRequest)request).answer(ControlRequest.Status.NOT_SERVING, null, detail);
                request.complete();
            }
            refused++;
        }
        return refused;
    }

    private boolean answerCounters(final ControlRequest request)
    {
        if (ControlRequest.Kind.VERB_COUNTERS != request.kind())
        {
            return false;
        }
        request.answer(ControlRequest.Status.OK, counters().verbs(), null);
        request.complete();
        return true;
    }

    private void stop(final State end)
    {
        queue.close();
        closeSession();
        finalCounters = counters().verbs();
        while (refuseAll("node has stopped") > 0)
        {
            // the queue is closed, so this ends
        }
        state = end;
    }

    private void closeSession()
    {
        ended.end(joining);
        joining.close();
        if (null != session)
        {
            ended.end(session);
            final NodeSession closing = session;
            session = null;
            closing.close();
        }
    }

    /**
     * Ends the node at once, as the end of its process would: nothing is said to anybody, what was begun has an unknown
     * outcome. Idempotent. By the node's thread, or after it has ended.
     */
    @Override
    public void onClose()
    {
        if (State.LEFT != state && State.FAILED != state)
        {
            failure = failure.isEmpty() ? "node was closed without leaving" : failure;
            stop(State.FAILED);
        }
    }

    /** Notes why the node's thread ends; it closes the node next. */
    void onError(final Throwable error)
    {
        failure = "duty cycle failed: " + error;
    }

    /** @return how long the node's thread may sleep before its next duty cycle, ns: requests wake it. */
    long sleepNs()
    {
        return isBusy() ? BUSY_SLEEP_NS : Math.min(MAX_SLEEP_NS, session.idleNs(clock.nanoTime()));
    }

    /**
     * By the thread that runs the duty cycle.
     *
     * @return how long nothing is due by the clock; 0 when that is not known. What arrives comes besides.
     */
    public long idleNs()
    {
        return isBusy() || State.SERVING != state ? 0 : Math.max(0, session.idleNs(clock.nanoTime()));
    }

    /** @return true if the duty cycle has to go on, requests or not. By the thread that runs it. */
    public boolean isBusy()
    {
        return null == session || session.isBusy();
    }

    /**
     * Lets submitting threads run the duty cycle; before any of them submits.
     *
     * @param lock over it, taken for each duty cycle from now on.
     */
    void shareDuty(final DutyLock lock)
    {
        endpoint.share(lock);
    }

    /** @return true if operations were answered since the last call of this, or somebody waits for the node now. */
    boolean hasWorkedForCallers()
    {
        final boolean answered = answeredAtLastLook != figures.answeredCount();
        answeredAtLastLook = figures.answeredCount();
        return answered || isBusy();
    }

    RequestQueue queue()
    {
        return queue;
    }

    NodeSession session()
    {
        return session;
    }

    NanoClock clock()
    {
        return clock;
    }

    @Override
    public String toString()
    {
        return "ComputeNode{name=" + configuration.name() + ", nodeId=" + nodeId + ", incarnation=" + incarnation +
            ", state=" + state + '}';
    }
}
