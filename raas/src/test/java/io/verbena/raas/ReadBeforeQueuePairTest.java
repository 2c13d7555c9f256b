package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/** Who connects to a peer with a read target does not wait until a queue pair is made: the next poll makes it. */
class ReadBeforeQueuePairTest
{
    @TempDir
    private Path directory;

    private final RecordingListener listener = new RecordingListener();
    private SoftPair pair;
    private ReadTarget target;

    @BeforeEach
    void setUp()
    {
        open(new RaasConfiguration());
    }

    private void open(final RaasConfiguration forClient)
    {
        pair = new SoftPair(directory, new RaasConfiguration(), forClient);
        target = pair.server.openReadTarget(7);
        pair.servedWord(8, 42);
    }

    @AfterEach
    void tearDown()
    {
        target.close();
        pair.close();
    }

    private VirtualQp connect(final RaasContext context)
    {
        return context.connect(pair.peer(), target.address(), pair.remote(), listener, SoftPair.TIMEOUT_NS);
    }

    private int queuePairs()
    {
        return pair.client.transports().counts().values().stream().mapToInt(Integer::intValue).sum();
    }

    private long queuePairsTaken()
    {
        return pair.client.limits().stream().filter((limit) -> "queue pairs".equals(limit.name())).findFirst()
            .orElseThrow().used();
    }

    private int read(final VirtualQp vqp, final int cookie)
    {
        vqp.begin();
        vqp.read(pair.local, 0, Long.BYTES, pair.remote(), 8);
        return vqp.complete(cookie);
    }

    @Test
    void shouldMakeItWithTheNextPoll()
    {
        final VirtualQp vqp = connect(pair.client);
        assertThat(vqp.isReady()).isTrue();
        assertThat(queuePairs()).isZero();
        assertThat(queuePairsTaken()).as("its room is taken").isEqualTo(1);
        final VirtualQp second = connect(pair.client);
        assertThat(second.isReady()).as("over the same").isTrue();
        assertThat(read(vqp, 1)).isEqualTo(PostStatus.OK);
        pair.client.poll();
        assertThat(queuePairs()).isEqualTo(1);
        assertThat(queuePairsTaken()).isEqualTo(1);
        pair.runUntil(() -> vqp.carriesWrites() && second.carriesWrites());
        assertThat(listener.cookies()).containsExactly(1);
        assertThat(queuePairs()).isEqualTo(1);
    }

    @Test
    void shouldConnectAsWhoAskedForIt()
    {
        final VirtualQp vqp = connect(pair.client);
        pair.client.identity(new PeerIdentity(3, 2));
        assertThat(queuePairs()).isEqualTo(1);
        pair.runUntil(vqp::carriesWrites);
        assertThat(pair.lastCaller).isEqualTo(new PeerIdentity(3, 1));
        final VirtualQp later = connect(pair.client);
        pair.runUntil(later::carriesWrites);
        assertThat(pair.lastCaller).isEqualTo(new PeerIdentity(3, 2));
    }

    @Test
    void shouldTakeTheRoomAtOnce()
    {
        tearDown();
        open(new RaasConfiguration().maxChannels(1));
        final VirtualQp vqp = connect(pair.client);
        final PeerAddress other = new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, 1, 2);
        final VirtualQp second = pair.client.connect(other, listener, SoftPair.TIMEOUT_NS);
        pair.runUntil(vqp::carriesWrites);
        assertThat(second.state()).isEqualTo(VirtualQp.State.CONNECTING);
        vqp.close();
        pair.runUntil(second::carriesWrites);
    }

    @Test
    void shouldGiveTheRoomBackWhenNoneWasMade()
    {
        // The context is closed by the end of the test, which fails when anything is left of it.
        final VirtualQp vqp = connect(pair.client);
        vqp.close();
        assertThat(queuePairs()).isZero();
    }

    @Test
    void shouldBeUsedByWhoConnectsWhenTheFirstHasGone()
    {
        connect(pair.client).close();
        pair.poll(1);
        final VirtualQp later = connect(pair.client);
        pair.runUntil(later::carriesWrites);
        assertThat(queuePairs()).isEqualTo(1);
    }

    /** Hands on everything but the making of queue pairs that are no DC initiators. */
    private static Device withoutQueuePairs(final Device device)
    {
        return proxy(Device.class, (self, method, arguments) ->
        {
            final Object answer = invoke(device, method, arguments);
            return answer instanceof ProtectionDomain domain ?
                proxy(ProtectionDomain.class, (_, called, options) ->
                {
                    if (called.getName().equals("createQueuePair") &&
                        QueuePairType.RC == ((QueuePairOptions)options[0]).type())
                    {
                        throw new RdmaException("no more queue pairs");
                    }
                    return invoke(domain, called, options);
                }) : answer;
        });
    }

    private static Object invoke(final Object target, final java.lang.reflect.Method method, final Object[] arguments)
        throws Throwable
    {
        try
        {
            return method.invoke(target, arguments);
        }
        catch (final InvocationTargetException ex)
        {
            throw ex.getCause();
        }
    }

    private static <T> T proxy(final Class<T> type, final InvocationHandler handler)
    {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[]{type}, handler));
    }

    @Test
    void shouldTellWhoReadsWhenItCannotBeMade()
    {
        try (RaasContext client = RaasContext.open(withoutQueuePairs(pair.clientDevice),
            new RaasConfiguration().identity(new PeerIdentity(4, 1)));
            MemoryRegion local = client.protectionDomain().allocateRegistered(64, AccessFlags.LOCAL_WRITE))
        {
            final VirtualQp vqp = connect(client);
            vqp.begin();
            vqp.read(local, 0, Long.BYTES, pair.remote(), 8);
            vqp.complete(1);
            for (int i = 0; i < 1_000 && !vqp.isFailed(); i++)
            {
                client.poll();
            }
            assertThat(vqp.failure()).contains("not connected: no more queue pairs");
            assertThat(vqp.outstandingBatches()).isZero();
            assertThat(listener.cookies()).containsExactly(1);
            assertThat(client.limits().stream().filter((limit) -> "queue pairs".equals(limit.name())))
                .allMatch((limit) -> 0 == limit.used());
            final VirtualQp without =
                client.connect(pair.peer(), ReadTargetAddress.NONE, RemoteRegion.NONE, listener, SoftPair.TIMEOUT_NS);
            assertThat(without.failure()).contains("not connected: no more queue pairs");
        }
        assertThat(listener.statuses()).hasSize(1).doesNotContain(WorkCompletionStatus.LOC_PROT_ERR);
    }
}
