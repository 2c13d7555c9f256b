package io.verbena.raas;

import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimRepetition;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.concurrent.Agent;
import org.junit.jupiter.api.Test;

import java.lang.foreign.ValueLayout;

import static org.assertj.core.api.Assertions.assertThat;

/** READs followed by WRITEs of the same word, with and without a fence between, where WRITEs overtake READs. */
class FenceSimTest
{
    private static final int SEEDS = 40;
    private static final int ROUNDS = 20;

    /** Reads word 0 and writes it behind a fence; then reads word 1 and writes it without one. */
    private static final class Tenant implements Agent, BatchListener
    {
        private final RaasContext context;
        private final SimServer server;
        private final MemoryRegion local;
        private final VirtualQp vqp;
        private int round;
        private boolean isOutstanding;
        private int overtakenBehindFence;
        private int overtaken;

        private Tenant(final SimNode node, final SimServer server)
        {
            this.server = server;
            context = RaasContext.open(node.device(), new RaasConfiguration());
            local = context.protectionDomain().allocateRegistered(64, AccessFlags.LOCAL_WRITE);
            vqp = context.connect(server.address(), this, 1_000_000_000L);
            node.addAgent(this);
        }

        @Override
        public int doWork()
        {
            if (!isOutstanding && round < ROUNDS && vqp.state() == VirtualQp.State.READY)
            {
                round++;
                isOutstanding = true;
                final RemoteRegion remote = RemoteRegion.of(server.region);
                local.segment().set(ValueLayout.JAVA_LONG, 16, round);
                vqp.begin();
                vqp.read(local, 0, 8, remote, 0);
                vqp.fenceNext();
                vqp.write(local, 16, 8, remote, 0);
                vqp.read(local, 8, 8, remote, 8);
                vqp.write(local, 16, 8, remote, 8);
                vqp.complete(round);
            }
            return context.poll();
        }

        @Override
        public void onBatchComplete(final VirtualQp from, final int cookie, final int status)
        {
            assertThat(status).isEqualTo(WorkCompletionStatus.SUCCESS);
            overtakenBehindFence += local.segment().get(ValueLayout.JAVA_LONG, 0) == round ? 1 : 0;
            overtaken += local.segment().get(ValueLayout.JAVA_LONG, 8) == round ? 1 : 0;
            isOutstanding = false;
        }

        @Override
        public String roleName()
        {
            return "tenant";
        }
    }

    @Test
    void shouldHoldBackTheFencedRequestAndNoOther()
    {
        int overtaken = 0;
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            try (SimWorld world = new SimWorld(seed, new SimFabricOptions()))
            {
                final SimServer server = new SimServer(world.addNode("server"), new RaasConfiguration());
                final Tenant tenant = new Tenant(world.addNode("tenant"), server);
                world.runUntil(() -> tenant.round == ROUNDS && !tenant.isOutstanding, 1_000_000);
                assertThat(tenant.overtakenBehindFence).as("seed %s", seed).isZero();
                overtaken += tenant.overtaken;
            }
        }
        assertThat(overtaken).as("without a fence some READ must see the WRITE behind it").isPositive();
    }

    @Test
    void shouldDoTheSameAgain()
    {
        SimRepetition.check(this::shouldHoldBackTheFencedRequestAndNoOther);
    }
}
