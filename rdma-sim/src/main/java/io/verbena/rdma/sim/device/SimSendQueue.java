package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimChoice;
import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.SimTimeline;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.BoundWindow;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.RetryTimers;
import io.verbena.rdma.spi.SegmentList;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;

/**
 * The requesting side of a simulated queue pair. A posted request is launched when fence, READ/atomic limit and route
 * allow; its outcome comes back some time; completions appear in posting order.
 */
final class SimSendQueue
{
    /** Between two tries of a request a share of the retry time goes by. */
    private static final int RETRY_SHARE = 8;
    private static final long MOST_REPEAT_NS = 1_000_000;
    /** What is done with the places of a request: they are checked, and their bytes taken, or filled. */
    private static final int CHECK = 0;
    private static final int TAKE = 1;
    private static final int FILL = 2;

    /** The queue pair that this sends for. */
    interface Owner extends SimRoute.Owner, SimCompletionQueue.Sender
    {
        QueuePairState state();

        ProtectionDomain protectionDomain();

        WorkRequest posted(long position);

        MemorySegment inline(WorkRequest posted);

        /** A request failed, its completion is there. */
        void sendFailed();

        /** In SQD, and nothing is in flight any more. */
        void drained();
    }

    private final Owner queuePair;
    private final SimHost host;
    private final SimNetwork network;
    private final SimTimeline timeline;
    private final SimRoute route;
    private final SimCompletionQueue completions;
    /** Launched and not completed, in posting order. */
    private final ArrayDeque<SimRequest> launched = new ArrayDeque<>();
    private long launchHead;
    private long lastResponseNs;
    private int outstandingReadAtomic;
    private boolean isLaunchScheduled;
    private boolean isLaunchBlocked;

    SimSendQueue(final Owner queuePair, final SimCompletionQueue completions)
    {
        this.queuePair = queuePair;
        this.host = queuePair.host();
        this.network = queuePair.network();
        this.timeline = network.timeline();
        this.completions = completions;
        this.route = switch (queuePair.type())
        {
            case RC, UC -> new SimConnectedRoute(queuePair);
            case UD -> new SimDatagramRoute(queuePair);
            case DC_INITIATOR -> new SimDcRoute(queuePair);
        };
    }

    SimRoute route()
    {
        return route;
    }

    /** How many posted requests have not set out. */
    long unlaunched()
    {
        return queuePair.tail() - launchHead;
    }

    boolean isIdle()
    {
        return launched.isEmpty();
    }

    /** Adds what is posted and not completed, and what its route keeps. */
    void describe(final StateWords words)
    {
        words.accept(isLaunchBlocked);
        words.accept(unlaunched());
        for (long position = launchHead; position < queuePair.tail(); position++)
        {
            final WorkRequest posted = queuePair.posted(position);
            posted.describe(words);
            if ((posted.flags & SendFlags.INLINE) != 0)
            {
                words.accept(queuePair.inline(posted));
            }
        }
        words.accept(launched.size());
        for (final SimRequest request : launched)
        {
            words.accept(request.wrId);
            words.accept((long)request.operation << 32 | request.flags);
            request.describePlaces(words);
            words.accept((request.flags & SendFlags.INLINE) != 0 ? 0 : request.localAddress);
            request.describeResult(words);
        }
        route.describe(words);
    }

    void launchSoon()
    {
        if (!isLaunchScheduled)
        {
            isLaunchScheduled = true;
            timeline.schedule(timeline.nowNs(), SimStep.Kind.LAUNCH, host.index(), queuePair.number(), this::launch);
        }
    }

    /** After SQD and SQE. */
    void resume()
    {
        isLaunchBlocked = false;
        if (unlaunched() > 0)
        {
            launchSoon();
        }
    }

    /** Forgets everything, without completions. */
    void clear()
    {
        launched.clear();
        launchHead = 0;
        outstandingReadAtomic = 0;
        isLaunchBlocked = false;
        route.end();
    }

    void flush()
    {
        while (!launched.isEmpty())
        {
            final SimRequest request = launched.poll();
            completions.pushSend(
                queuePair, request.wrId, WorkCompletionStatus.WR_FLUSH_ERR, 0, 0, request.position() + 1);
        }
        outstandingReadAtomic = 0;
        while (launchHead < queuePair.tail())
        {
            final WorkRequest posted = queuePair.posted(launchHead);
            launchHead++;
            completions.pushSend(queuePair, posted.wrId, WorkCompletionStatus.WR_FLUSH_ERR, 0, 0, launchHead);
        }
        route.end();
    }

    /** The responder, or the lack of one: sends the outcome back. */
    void respond(final SimRequest request, final int status)
    {
        request.status = status;
        if (status == WorkCompletionStatus.SUCCESS && SimLoss.isResponseLost(queuePair, request))
        {
            request.retries.responseLost();
            timeline.schedule(
                timeline.nowNs() + Math.min(queuePair.retryTimeNs() / RETRY_SHARE, MOST_REPEAT_NS), SimStep.Kind.ARRIVE,
                host.index(), queuePair.number(), () -> repeat(request));
        }
        else if (network.rnic(host) != null)
        {
            network.rnic(request.target()).respond(request);
        }
        else
        {
            scheduleResponse(
                request, timeline.nowNs() + timeline.drawDelayNs(host, queuePair.number(), SimRequest.RESPONSE));
        }
    }

    private void repeat(final SimRequest request)
    {
        final SimRequest.Executor responder = request.connection.executor();
        final boolean isGone = request.connection.isCut() || host.isKilled() || !responder.accepts(request);
        if (!isForgotten(request) && (isGone || !responder.repeat(request)))
        {
            giveUp(request);
        }
    }

    /** The NIC has all of a response. */
    void responseIsHere(final SimRequest request)
    {
        scheduleResponse(request, timeline.nowNs());
    }

    private void scheduleResponse(final SimRequest request, final long timeNs)
    {
        lastResponseNs = Math.max(lastResponseNs + 1, timeNs);
        timeline.schedule(
            lastResponseNs, SimStep.Kind.RESPOND, host.index(), queuePair.number(), choice("response", request),
            () -> onResponse(request));
    }

    /** An unreliable message is complete as soon as it has left. */
    void left(final SimRequest request)
    {
        left(request, timeline.nowNs() + timeline.drawDelayNs(host, queuePair.number(), SimRequest.RESPONSE));
    }

    /** It has left, and this is when its completion is there. */
    void left(final SimRequest request, final long timeNs)
    {
        request.status = WorkCompletionStatus.SUCCESS;
        lastResponseNs = Math.max(lastResponseNs + 1, timeNs);
        timeline.schedule(
            lastResponseNs, SimStep.Kind.RESPOND, host.index(), queuePair.number(), choice("sent", request),
            () -> finish(request));
    }

    /** Nobody will answer: after the retry time the request fails. */
    void giveUp(final SimRequest request)
    {
        if (queuePair.type() == QueuePairType.UC || request.isDone)
        {
            return;
        }
        request.status = WorkCompletionStatus.RETRY_EXC_ERR;
        final long retryNs = queuePair.retryTimeNs();
        if (retryNs != RetryTimers.NEVER_NS)
        {
            final long timeNs = Math.max(timeline.nowNs(), request.launch.timeNs() + retryNs);
            timeline.schedule(
                timeNs, SimStep.Kind.GIVE_UP, host.index(), queuePair.number(), choice("no response", request),
                () -> finish(request));
        }
    }

    private SimChoice choice(final String what, final SimRequest request)
    {
        return SimMessage.response(what, request, () -> isForgotten(request));
    }

    private boolean isForgotten(final SimRequest request)
    {
        return !isAtWork() || request.isDone || host.isKilled() || request.connection != queuePair.link();
    }

    /** A request that waits for its peer to leave INIT waits no longer than the retry time. */
    void expireInInit(final SimRequest request)
    {
        final SimRequest.Executor peer = request.connection.executor();
        final long retryNs = queuePair.retryTimeNs();
        if (peer.state() == QueuePairState.INIT && retryNs != RetryTimers.NEVER_NS)
        {
            timeline.schedule(
                Math.max(timeline.nowNs(), request.launch.timeNs() + retryNs), SimStep.Kind.GIVE_UP, host.index(),
                queuePair.number(), expiry(request, peer), () ->
                {
                    if (peer.withdraw(request))
                    {
                        giveUp(request);
                    }
                });
        }
    }

    private SimChoice expiry(final SimRequest request, final SimRequest.Executor peer)
    {
        return new SimMessage(
            "waits no longer", request, host, peer.host(), false, () -> peer.state() != QueuePairState.INIT);
    }

    private void launch()
    {
        isLaunchScheduled = false;
        while (unlaunched() > 0 && queuePair.state() == QueuePairState.RTS && !isLaunchBlocked && !host.isKilled())
        {
            final WorkRequest posted = queuePair.posted(launchHead);
            if (mustWait(posted))
            {
                return;
            }
            final SimRequest request =
                new SimRequest(queuePair, new SimRequest.Launch(
                    launchHead, timeline.nowNs(), timeline.nextSequence(), outstandingReadAtomic), posted);
            launchHead++;
            launched.add(request);
            outstandingReadAtomic += request.isReadOrAtomic() ? 1 : 0;
            final int status = posted.isLocal() ? executeLocal(posted) : takePayload(request, posted);
            if (posted.isLocal() || status != WorkCompletionStatus.SUCCESS)
            {
                isLaunchBlocked = status != WorkCompletionStatus.SUCCESS;
                request.status = status;
                request.isDone = true;
                network.observer().onCompleted(request);
                retire();
            }
            else
            {
                route.send(request);
            }
        }
    }

    private boolean mustWait(final WorkRequest posted)
    {
        if (route.mustWait(posted, launched.isEmpty()))
        {
            return true;
        }
        return outstandingReadAtomic > 0 && ((posted.flags & SendFlags.FENCE) != 0 ||
            posted.isReadOrAtomic() && outstandingReadAtomic >= queuePair.maxReadAtomic());
    }

    private int executeLocal(final WorkRequest posted)
    {
        if (posted.operation == WorkRequest.BIND_MW)
        {
            final RegisteredRegion region =
                posted.region == null ? null : host.keys().find(posted.region.localKey());
            final boolean isOwn = posted.window instanceof BoundWindow window && host.windows().contains(window);
            return !isOwn ? WorkCompletionStatus.MW_BIND_ERR : ((BoundWindow)posted.window).bind(
                posted, region == posted.region ? region : null, queuePair.protectionDomain(), queuePair.number());
        }
        final BoundWindow window = host.windows().find(posted.remoteKey);
        if (window == null ||
            !window.mayInvalidate(posted.remoteKey, queuePair.protectionDomain(), queuePair.number()))
        {
            return WorkCompletionStatus.LOC_QP_OP_ERR;
        }
        window.unbind();
        return WorkCompletionStatus.SUCCESS;
    }

    private int takePayload(final SimRequest request, final WorkRequest posted)
    {
        if (request.lengthBytes == 0)
        {
            return WorkCompletionStatus.SUCCESS;
        }
        if ((request.flags & SendFlags.INLINE) != 0)
        {
            MemorySegment.copy(
                queuePair.inline(posted), ValueLayout.JAVA_BYTE, 0, request.payload.bytes, 0, request.lengthBytes);
            return WorkCompletionStatus.SUCCESS;
        }
        final int right = request.isReadOrAtomic() ? AccessFlags.LOCAL_WRITE : 0;
        if (request.segments != null)
        {
            return moveSegments(request, right, request.isReadOrAtomic() ? CHECK : TAKE);
        }
        final MemorySegment local = localMemory(request, right);
        if (local != null && !request.isReadOrAtomic())
        {
            MemorySegment.copy(local, ValueLayout.JAVA_BYTE, 0, request.payload.bytes, 0, request.lengthBytes);
        }
        return local == null ? WorkCompletionStatus.LOC_PROT_ERR : WorkCompletionStatus.SUCCESS;
    }

    private MemorySegment localMemory(final SimRequest request, final int right)
    {
        return SimAccess.memory(
            host, queuePair.protectionDomain(), request.localKey, right, request.localAddress, request.lengthBytes);
    }

    /** Checks the places of a request in order, and moves their bytes up to the first that is bad, as an RNIC does. */
    private int moveSegments(final SimRequest request, final int right, final int step)
    {
        final SegmentList segments = request.segments;
        int done = 0;
        for (int i = 0; i < segments.count(); i++)
        {
            final int lengthBytes = segments.lengthBytes(i);
            final MemorySegment local = SimAccess.memory(
                host, queuePair.protectionDomain(), segments.key(i), right, segments.address(i), lengthBytes);
            if (local == null)
            {
                return WorkCompletionStatus.LOC_PROT_ERR;
            }
            if (step == TAKE)
            {
                MemorySegment.copy(local, ValueLayout.JAVA_BYTE, 0, request.payload.bytes, done, lengthBytes);
            }
            else if (step == FILL)
            {
                MemorySegment.copy(request.payload.bytes, done, local, ValueLayout.JAVA_BYTE, 0, lengthBytes);
            }
            done += lengthBytes;
        }
        return WorkCompletionStatus.SUCCESS;
    }

    private void onResponse(final SimRequest request)
    {
        if (request.connection.isCut() || request.session != null && request.session.isCut())
        {
            giveUp(request);
        }
        else
        {
            finish(request);
        }
    }

    private void finish(final SimRequest request)
    {
        if (isForgotten(request))
        {
            return;
        }
        if (request.status == WorkCompletionStatus.SUCCESS && request.isReadOrAtomic())
        {
            land(request);
        }
        network.observer().onCompleted(request);
        request.isDone = true;
        retire();
    }

    private void land(final SimRequest request)
    {
        if (request.lengthBytes == 0)
        {
            return;
        }
        if (request.segments != null)
        {
            request.status = moveSegments(request, AccessFlags.LOCAL_WRITE, FILL);
            return;
        }
        final MemorySegment local = localMemory(request, AccessFlags.LOCAL_WRITE);
        if (local == null)
        {
            request.status = WorkCompletionStatus.LOC_PROT_ERR;
        }
        else if (request.isAtomic())
        {
            local.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, request.payload.found);
        }
        else
        {
            MemorySegment.copy(request.payload.bytes, 0, local, ValueLayout.JAVA_BYTE, 0, request.lengthBytes);
        }
    }

    private boolean isAtWork()
    {
        return queuePair.state() == QueuePairState.RTS || queuePair.state() == QueuePairState.SQD;
    }

    private void retire()
    {
        while (!launched.isEmpty() && launched.peek().isDone && isAtWork())
        {
            final SimRequest request = launched.poll();
            outstandingReadAtomic -= request.isReadOrAtomic() ? 1 : 0;
            if (request.status != WorkCompletionStatus.SUCCESS)
            {
                completions.pushSend(queuePair, request.wrId, request.status, 0, 0, request.position() + 1);
                queuePair.sendFailed();
            }
            else if ((request.flags & SendFlags.SIGNALED) != 0)
            {
                completions.pushSend(
                    queuePair, request.wrId, request.status, request.operation, request.lengthBytes,
                    request.position() + 1);
            }
        }
        if (launched.isEmpty() && queuePair.state() == QueuePairState.SQD)
        {
            queuePair.drained();
        }
        else if (unlaunched() > 0 && queuePair.state() == QueuePairState.RTS)
        {
            launchSoon();
        }
        else if (launched.isEmpty())
        {
            route.idle();
        }
    }
}
