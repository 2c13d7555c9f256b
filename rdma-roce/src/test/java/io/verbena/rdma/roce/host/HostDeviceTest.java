package io.verbena.rdma.roce.host;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A server, a client on its host and one on another host. */
class HostDeviceTest
{
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final int SIGNALED = SendFlags.SIGNALED;

    private final Path host = HostNode.directory();
    private final Path otherHost = HostNode.directory();
    private final HostNode server = HostNode.on(host);
    private final HostNode neighbour = HostNode.on(host);
    private final HostNode stranger = HostNode.on(otherHost);
    private QueuePair local;
    private QueuePair localEnd;
    private QueuePair remote;
    private QueuePair remoteEnd;

    @BeforeEach
    void connect()
    {
        final QueuePair[] onHost = neighbour.connect(server);
        local = onHost[0];
        localEnd = onHost[1];
        assertThat(server.lastSource).isEqualTo(neighbour.device.address());
        final QueuePair[] acrossHosts = stranger.connect(server);
        remote = acrossHosts[0];
        remoteEnd = acrossHosts[1];
        assertThat(server.lastSource).isEqualTo(stranger.device.address());
    }

    @AfterEach
    void close()
    {
        stranger.close();
        neighbour.close();
        server.close();
    }

    @Test
    void shouldTakeSharedMemoryOnOneHostAndNetworkBetweenHosts()
    {
        assertThat(local.transport()).isEqualTo("shared-memory");
        assertThat(localEnd.transport()).isEqualTo("shared-memory");
        assertThat(remote.transport()).isEqualTo("rocev2");
        assertThat(remoteEnd.transport()).isEqualTo("rocev2");
        assertThat(server.device.transports()).containsExactly("shared-memory", "rocev2");
    }

    @Test
    void shouldNotTakeSharedMemoryToAnotherAddressWithTheSamePortAndProcess()
    {
        final DeviceAddress address = server.device.address();
        // 2001:db8::1, which is nobody's.
        final DeviceAddress other = new DeviceAddress(0x2001_0DB8L << 32, 1, address.serviceLocator());
        try (ConnectionListener listener = server.device.listen(7))
        {
            final ConnectionAttempt attempt = neighbour.device.connect(
                neighbour.newQueuePair(), other, 7, AccessFlags.ALL_REMOTE, new byte[0], 200_000_000);
            final long endNs = System.nanoTime() + HostNode.PATIENCE_NS;
            while (attempt.poll() == ConnectionAttempt.State.PENDING && System.nanoTime() - endNs < 0)
            {
                assertThat(listener.poll()).isNull();
            }
            assertThat(attempt.poll())
                .isIn(ConnectionAttempt.State.UNREACHABLE, ConnectionAttempt.State.TIMED_OUT);
        }
    }

    /** The connection service reports a request that it took while the listener, channel and device were closed. */
    @Test
    void shouldTouchNoMemoryForRequestThatComesBehindTheClose()
    {
        final HostNode node = HostNode.on(host);
        final HostCompletionChannel channel = (HostCompletionChannel)node.channel;
        channel.onConnectionRequest();
        node.close();
        channel.onConnectionRequest();
        assertThat(local.transport()).as("still alive").isEqualTo("shared-memory");
    }

    @Test
    void shouldConnectWithPlainNetworkDevicesBothWays()
    {
        try (HostNode plain = new HostNode("roce:::1,memory=" + HostNode.directory()))
        {
            final QueuePair[] there = server.connect(plain);
            final QueuePair[] back = plain.connect(server);
            assertThat(there[0].transport()).isEqualTo("rocev2");
            assertThat(back[1].transport()).isEqualTo("rocev2");
            server.region.segment().set(ValueLayout.JAVA_LONG, 64, 77);
            read(plain, back[0], server.region);
            assertThat(plain.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(plain.region.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(77);
        }
    }

    private static void read(final HostNode node, final QueuePair queuePair, final MemoryRegion region)
    {
        queuePair.begin();
        queuePair.read(1, SIGNALED, node.region.address(), Long.BYTES, node.region.localKey(),
            region.address() + 64, region.remoteKey());
        assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
    }

    @Test
    void shouldReachOneRegionByOneKeyBothWays()
    {
        server.region.segment().set(ValueLayout.JAVA_LONG, 64, 0x1122_3344_5566_7788L);
        read(neighbour, local, server.region);
        read(stranger, remote, server.region);
        assertThat(neighbour.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(stranger.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(neighbour.region.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x1122_3344_5566_7788L);
        assertThat(stranger.region.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x1122_3344_5566_7788L);
    }

    @Test
    void shouldCountExactlyWhenBothWaysAndThisProcessAddToOneWord()
        throws ExecutionException, InterruptedException, TimeoutException
    {
        final int count = 3_000;
        final CompletableFuture<Void> byMemory = CompletableFuture.runAsync(() -> add(neighbour, local, count));
        final CompletableFuture<Void> byNetwork = CompletableFuture.runAsync(() -> add(stranger, remote, count));
        final CompletableFuture<Void> byProcessor = CompletableFuture.runAsync(() ->
        {
            for (int i = 0; i < count; i++)
            {
                final MemorySegment word = server.region.segment();
                long seen = (long)WORD.getVolatile(word, 128L);
                while (!WORD.compareAndSet(word, 128L, seen, seen + 1))
                {
                    seen = (long)WORD.getVolatile(word, 128L);
                }
            }
        });
        // Each ends by itself; nothing may be closed while one of them polls.
        CompletableFuture.allOf(byMemory, byNetwork, byProcessor).get(600, TimeUnit.SECONDS);
        assertThat((long)WORD.getVolatile(server.region.segment(), 128L)).isEqualTo(3L * count);
    }

    /** Adds 1 as often, every second time by CMP_SWAP, which is repeated until it has found what it expects. */
    private void add(final HostNode node, final QueuePair queuePair, final int count)
    {
        long expected = 0;
        for (int done = 0; done < count;)
        {
            final boolean isSwap = (done & 1) == 1;
            queuePair.begin();
            if (isSwap)
            {
                queuePair.compareSwap(1, SIGNALED, node.region.address(), node.region.localKey(),
                    server.region.address() + 128, server.region.remoteKey(), expected, expected + 1);
            }
            else
            {
                queuePair.fetchAdd(1, SIGNALED, node.region.address(), node.region.localKey(),
                    server.region.address() + 128, server.region.remoteKey(), 1);
            }
            assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
            assertThat(node.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
            final long found = node.region.segment().get(ValueLayout.JAVA_LONG, 0);
            done += !isSwap || found == expected ? 1 : 0;
            expected = isSwap && found != expected ? found : found + 1;
        }
    }

    @Test
    void shouldPollBothWaysFromOneQueueAndStarveNeither()
    {
        for (int i = 0; i < 32; i++)
        {
            receive(localEnd, 100 + i);
            receive(remoteEnd, 200 + i);
        }
        send(stranger, remote, 1);
        int remoteSeen = 0;
        for (int sent = 0; sent < 5_000 && remoteSeen == 0; sent++)
        {
            // There is always one of this host to be polled.
            send(neighbour, local, 1);
            assertThat(server.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
            final boolean isRemote = server.polled.queuePairNumber(0) == remoteEnd.number();
            remoteSeen += isRemote ? 1 : 0;
            assertThat(server.polled.wrId(0)).isBetween(isRemote ? 200L : 100L, isRemote ? 231L : 131L);
            receive(localEnd, 100);
            Thread.yield();
        }
        assertThat(remoteSeen).as("completions of the network among those of this host").isEqualTo(1);
    }

    private void receive(final QueuePair queuePair, final long wrId)
    {
        queuePair.postReceive(wrId, server.region.address() + 4096, 64, server.region.localKey());
    }

    private static void send(final HostNode node, final QueuePair queuePair, final int bytes)
    {
        queuePair.begin();
        queuePair.send(9, SIGNALED | SendFlags.SOLICITED, node.region.address(), bytes, node.region.localKey());
        assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
        assertThat(node.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void shouldWakeChannelForEitherWayOnceForEachArming()
    {
        for (int round = 0; round < 4; round++)
        {
            final boolean isRemote = (round & 1) == 1;
            receive(localEnd, 1);
            receive(remoteEnd, 2);
            server.completions.requestNotification(false);
            final CompletableFuture<CompletionQueue> waiting =
                CompletableFuture.supplyAsync(() -> server.channel.await(HostNode.PATIENCE_NS));
            send(isRemote ? stranger : neighbour, isRemote ? remote : local, 8);
            assertThat(waiting.join()).isSameAs(server.completions);
            assertThat(server.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(server.polled.wrId(0)).isEqualTo(isRemote ? 2 : 1);
            // The other way is not armed any more as far as the user knows.
            send(isRemote ? neighbour : stranger, isRemote ? local : remote, 8);
            assertThat(server.channel.await(TimeUnit.MILLISECONDS.toNanos(20))).isNull();
            assertThat(server.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
        }
    }

    /** A wait looks around every tenth of a second anyway. */
    @Test
    void shouldWakeSleeperAtOnceByTheNetwork() throws InterruptedException
    {
        final long soonNs = TimeUnit.MILLISECONDS.toNanos(40);
        long leastNs = Long.MAX_VALUE;
        for (int round = 0; round < 50 && leastNs >= soonNs; round++)
        {
            receive(remoteEnd, 2);
            server.completions.requestNotification(false);
            final CompletableFuture<CompletionQueue> waiting =
                CompletableFuture.supplyAsync(() -> server.channel.await(HostNode.PATIENCE_NS));
            TimeUnit.MILLISECONDS.sleep(20);
            final long startNs = System.nanoTime();
            send(stranger, remote, 8);
            assertThat(waiting.join()).isSameAs(server.completions);
            leastNs = Math.min(leastNs, System.nanoTime() - startNs);
            assertThat(server.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
        }
        assertThat(leastNs).isLessThan(soonNs);
    }

    @Test
    void shouldLetNothingLandByEitherWayOnceRegionIsClosed() throws InterruptedException
    {
        try (Arena arena = Arena.ofShared())
        {
            final MemorySegment memory = arena.allocate(8192, 4096);
            final MemoryRegion region = server.domain.register(memory, AccessFlags.ALL_REMOTE);
            final AtomicBoolean isOver = new AtomicBoolean();
            final Thread byMemory =
                Thread.ofPlatform().start(() -> writeUntilRefused(neighbour, local, region, isOver));
            final Thread byNetwork =
                Thread.ofPlatform().start(() -> writeUntilRefused(stranger, remote, region, isOver));
            final long endNs = System.nanoTime() + HostNode.PATIENCE_NS;
            while ((memory.get(ValueLayout.JAVA_LONG, 0) < 50 || memory.get(ValueLayout.JAVA_LONG, 8) < 50) &&
                System.nanoTime() - endNs < 0)
            {
                Thread.onSpinWait();
            }
            region.close();
            final long first = memory.get(ValueLayout.JAVA_LONG, 0);
            final long second = memory.get(ValueLayout.JAVA_LONG, 8);
            byMemory.join(20_000);
            byNetwork.join(20_000);
            isOver.set(true);
            assertThat(neighbour.polled.status(0)).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
            assertThat(stranger.polled.status(0)).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(first).isGreaterThanOrEqualTo(50);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(second).isGreaterThanOrEqualTo(50);
        }
    }

    private void writeUntilRefused(
        final HostNode node, final QueuePair queuePair, final MemoryRegion region, final AtomicBoolean isOver)
    {
        int status = WorkCompletionStatus.SUCCESS;
        for (long value = 1; status == WorkCompletionStatus.SUCCESS && !isOver.get(); value++)
        {
            node.region.segment().set(ValueLayout.JAVA_LONG, 0, value);
            queuePair.begin();
            queuePair.write(1, SIGNALED, node.region.address(), Long.BYTES, node.region.localKey(),
                region.address() + (node == neighbour ? 0 : 8), region.remoteKey());
            queuePair.complete();
            status = node.await();
        }
    }

    @Test
    void shouldKeepWindowOfOneWayFromTheOther()
    {
        final MemoryWindow window = server.domain.allocateMemoryWindow();
        final int key = window.nextRemoteKey();
        bind(remoteEnd, window, key, 64);
        assertThat(server.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
        // By the queue pair of this host: it is bound already, and is not to be unbound by another one.
        bind(localEnd, window, window.nextRemoteKey(), 64);
        assertThat(server.await()).isEqualTo(WorkCompletionStatus.MW_BIND_ERR);
        assertThatThrownBy(server.region::close).isInstanceOf(RdmaException.class);
        stranger.region.segment().set(ValueLayout.JAVA_LONG, 0, 5);
        write(remote, stranger, key);
        assertThat(stranger.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(server.region.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(5);
        window.close();
        write(remote, stranger, key);
        assertThat(stranger.await()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @Test
    void shouldRefuseToUnbindByNetworkWhatThisHostHasBound()
    {
        final MemoryWindow window = server.domain.allocateMemoryWindow();
        final int key = window.nextRemoteKey();
        bind(localEnd, window, key, 64);
        assertThat(server.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
        bind(remoteEnd, window, window.nextRemoteKey(), 0);
        assertThat(server.await()).isEqualTo(WorkCompletionStatus.MW_BIND_ERR);
        write(local, neighbour, key);
        assertThat(neighbour.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
        window.close();
    }

    private void write(final QueuePair queuePair, final HostNode node, final int key)
    {
        queuePair.begin();
        queuePair.write(3, SIGNALED, node.region.address(), Long.BYTES, node.region.localKey(),
            server.region.address(), key);
        assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
    }

    private void bind(final QueuePair queuePair, final MemoryWindow window, final int key, final int bytes)
    {
        queuePair.begin();
        queuePair.bindMemoryWindow(7, SIGNALED, window, key, server.region, server.region.address(), bytes,
            AccessFlags.REMOTE_WRITE);
        assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
    }

    @Test
    void shouldTakeReceivesAlongThatWerePostedBeforeThePeerWasKnown()
    {
        final QueuePair early = server.newQueuePair();
        final QueuePair sender = stranger.newQueuePair();
        toInit(early);
        receive(early, 71);
        receive(early, 72);
        toInit(sender);
        toReady(early, stranger, sender.number());
        toReady(sender, server, early.number());
        assertThat(early.transport()).isEqualTo("rocev2");
        final QueuePairAttributes shown = new QueuePairAttributes();
        early.query(shown);
        assertThat(shown.destination()).isEqualTo(stranger.device.address());
        send(stranger, sender, 4);
        send(stranger, sender, 4);
        assertThat(server.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(server.polled.wrId(0)).isEqualTo(71);
        assertThat(server.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(server.polled.wrId(0)).isEqualTo(72);
    }

    private static void toInit(final QueuePair queuePair)
    {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1)
            .accessFlags(AccessFlags.ALL_REMOTE));
    }

    private static void toReady(final QueuePair queuePair, final HostNode peer, final int peerNumber)
    {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR).destination(peer.device.address())
            .pathMtuBytes(1024).destinationNumber(peerNumber).rqPsn(5).maxDestinationReadAtomic(4).minRnrTimer(12));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).timeout(14).retryCount(7).rnrRetry(7)
            .sqPsn(5).maxReadAtomic(4));
    }

    @Test
    void shouldGiveEachReceiveOfSharedQueueToOneMessageOfEitherWay()
        throws ExecutionException, InterruptedException, TimeoutException
    {
        final int count = 1_000;
        final int depth = 8;
        final SharedReceiveQueue receives = server.domain.createSharedReceiveQueue(depth);
        final QueuePair[] onHost = neighbour.connect(server, receives);
        final QueuePair[] acrossHosts = stranger.connect(server, receives);
        long posted = 0;
        for (; posted < depth; posted++)
        {
            assertThat(post(receives, posted)).isEqualTo(PostStatus.OK);
        }
        assertThat(post(receives, posted)).isEqualTo(PostStatus.QUEUE_FULL);
        final CompletableFuture<Void> byMemory = CompletableFuture.runAsync(() -> sendAll(neighbour, onHost[0], count));
        final CompletableFuture<Void> byNetwork =
            CompletableFuture.runAsync(() -> sendAll(stranger, acrossHosts[0], count));
        final BitSet seen = new BitSet();
        int localCount = 0;
        for (int polled = 0; polled < 2 * count; polled++)
        {
            assertThat(server.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
            final int wrId = (int)server.polled.wrId(0);
            assertThat(seen.get(wrId)).as("receive of two messages: " + wrId).isFalse();
            seen.set(wrId);
            localCount += server.polled.queuePairNumber(0) == onHost[1].number() ? 1 : 0;
            assertThat(post(receives, posted++)).isEqualTo(PostStatus.OK);
        }
        CompletableFuture.allOf(byMemory, byNetwork).get(600, TimeUnit.SECONDS);
        assertThat(localCount).isEqualTo(count);
        // None is skipped: at most as many as there are at once are still to come.
        assertThat(seen.nextClearBit(0)).isGreaterThanOrEqualTo(2 * count - depth);
        assertThatThrownBy(receives::close).isInstanceOf(RdmaException.class);
        server.close(onHost[1]);
        server.close(acrossHosts[1]);
        receives.close();
    }

    private int post(final SharedReceiveQueue receives, final long wrId)
    {
        return receives.postReceive(wrId, server.region.address() + 4096, 64, server.region.localKey());
    }

    private static void sendAll(final HostNode node, final QueuePair queuePair, final int count)
    {
        for (int i = 0; i < count; i++)
        {
            send(node, queuePair, 16);
        }
    }

    @Test
    void shouldGiveKeysAndNumbersThatDoNotFollowEachOther()
    {
        try (MemoryRegion one = server.domain.allocateRegistered(64, 0);
            MemoryRegion two = server.domain.allocateRegistered(64, 0);
            MemoryRegion three = server.domain.allocateRegistered(64, 0))
        {
            assertThat(two.remoteKey() - one.remoteKey()).isNotEqualTo(three.remoteKey() - two.remoteKey());
        }
        assertThat(server.device.address().serviceLocator()).isNotEqualTo(neighbour.device.address().serviceLocator());
    }

    @Test
    void shouldKeepNamedMemoryForTheNextProcess()
    {
        final String name = "host-device-test";
        final MemoryRegion first = server.domain.allocateNamed(name, 4096, AccessFlags.ALL_REMOTE);
        first.segment().set(ValueLayout.JAVA_LONG, 64, 4711);
        assertThatThrownBy(() -> neighbour.domain.allocateNamed(name, 4096, AccessFlags.ALL_REMOTE))
            .isInstanceOf(RdmaException.class);
        first.close();
        try (MemoryRegion second = neighbour.domain.allocateNamed(name, 4096, AccessFlags.ALL_REMOTE))
        {
            final QueuePair[] ends = stranger.connect(neighbour);
            read(stranger, ends[0], second);
            assertThat(stranger.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(stranger.region.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(4711);
        }
        assertThat(neighbour.discard(name)).isTrue();
    }
}
