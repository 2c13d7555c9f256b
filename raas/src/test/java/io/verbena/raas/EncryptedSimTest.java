package io.verbena.raas;

import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

/** Encrypted calls while connections break, interleaved by seeds: both ends count alike whatever happens. */
class EncryptedSimTest
{
    private static final int SEEDS = 20;
    private static final int PORT = 7;
    private static final int CALLS = 120;
    private static final long TIMEOUT_NS = 200_000;
    private static final int MAX_STEPS = 2_000_000;
    private static final PeerIdentity CLIENT = new PeerIdentity(3, 1);

    /** Calls with several under way at once, and connects anew when the connection breaks. */
    private static final class Caller implements Agent
    {
        private final RaasContext context;
        private final PeerAddress peer;
        private final SplittableRandom random;
        private VirtualQp vqp;
        private int begun;
        private int answered;
        private int failed;
        private int connections;

        Caller(final SimNode node, final PeerAddress peer, final IdentitySecret secret, final long seed)
        {
            this.peer = peer;
            random = new SplittableRandom(seed);
            context = RaasContext.open(node.device(), new RaasConfiguration().encrypted(true));
            context.identity(CLIENT, 1, (_) -> secret);
            node.addAgent(this);
        }

        @Override
        public int doWork()
        {
            final int work = context.poll();
            if (vqp == null || vqp.state() == VirtualQp.State.FAILED)
            {
                if (vqp != null)
                {
                    vqp.close();
                }
                connections++;
                vqp = context.connect(peer, BatchListener.CALLS_ONLY, 10 * TIMEOUT_NS);
                return 1;
            }
            if (begun < CALLS && begun - answered - failed < 5 && vqp.isReady())
            {
                final byte[] sent = new byte[random.nextInt(RpcClient.MAX_MESSAGE_BYTES + 1)];
                random.nextBytes(sent);
                begun++;
                final long id = context.rpcClient().call(vqp, 1, new UnsafeBuffer(sent), 0, sent.length, TIMEOUT_NS,
                    (callId, status, payload, offset, length) -> onReply(sent, status, payload, offset, length));
                assertThat(id).isPositive();
                return 1;
            }
            return work;
        }

        private void onReply(
            final byte[] sent, final RpcStatus status, final DirectBuffer payload, final int offset, final int length)
        {
            if (status == RpcStatus.OK)
            {
                final byte[] received = new byte[length];
                payload.getBytes(offset, received);
                assertThat(Arrays.equals(received, sent)).as("echo of %d bytes", sent.length).isTrue();
                answered++;
                return;
            }
            assertThat(status).isNotEqualTo(RpcStatus.REFUSED);
            failed++;
        }

        boolean isDone()
        {
            return answered + failed == CALLS;
        }

        @Override
        public String roleName()
        {
            return "caller";
        }
    }

    private record Serving(RaasContext context) implements Agent
    {
        @Override
        public int doWork()
        {
            return context.poll();
        }

        @Override
        public String roleName()
        {
            return "server";
        }
    }

    @Test
    void shouldAnswerEachCallAndRefuseNothing()
    {
        int failed = 0;
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            failed += run(seed, false);
        }
        assertThat(failed).isZero();
    }

    @Test
    void shouldCountAnewWhenConnectionsBreak()
    {
        int failed = 0;
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            failed += run(seed, true);
        }
        assertThat(failed).as("calls over connections that broke").isPositive();
    }

    private static int run(final long seed, final boolean breaks)
    {
        try (SimWorld world = new SimWorld(seed, new SimFabricOptions().retryTimeoutNs(300_000).rnrTimeoutNs(1)))
        {
            final IdentitySecret secret = IdentitySecret.random(new SplittableRandom(seed));
            final SimNode serving = world.addNode("server");
            final RaasContext context = RaasContext.open(serving.device(), new RaasConfiguration());
            final RpcServer server = context.serve(PORT, (_, _) -> Admission.callsOnly(), (_) -> secret,
                (caller, method, request, offset, length, reply) ->
                {
                    assertThat(reply.isEncrypted()).isTrue();
                    reply.buffer().putBytes(reply.offset(), request, offset, length);
                    return length;
                });
            serving.addAgent(new Serving(context));
            final SimNode calling = world.addNode("client");
            final Caller caller = new Caller(
                calling, new PeerAddress(serving.device().address(), PORT, 1, 1), secret, seed);
            for (int i = 1; breaks && i <= 3; i++)
            {
                final int until = i * CALLS / 4;
                world.runUntil(() -> caller.answered + caller.failed >= until, MAX_STEPS);
                serving.device().breakConnections(calling.device());
            }
            world.runUntil(caller::isDone, MAX_STEPS);
            assertThat(server.encryption().refused()).as("seed %d", seed).isZero();
            assertThat(caller.answered).as("seed %d", seed).isPositive();
            assertThat(caller.connections).as("seed %d", seed).isEqualTo(breaks ? Math.max(2, caller.connections) : 1);
            return caller.failed;
        }
    }
}
