package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.protocol.access.Grant;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.TableRight;
import io.verbena.protocol.access.User;
import io.verbena.protocol.access.UserQuota;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.agrona.concurrent.Agent;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A user that asks little beside one that asks as much as it can, at one compute node of 8 slots. */
class QuietUserSimTest
{
    private static final long MAX_STEPS = 20_000_000;
    private static final long TIMEOUT_NS = 1_000_000_000L;
    private static final int GREEDY_REQUESTS = 600;
    private static final int QUIET_REQUESTS = 300;
    /** Where each waits for all of the other: enough for a mean that is many times the one alone. */
    private static final int QUEUED_REQUESTS = 20;
    private static final int GREEDY_SCANS = 100;
    private static final int OUTSTANDING = 4;
    private static final byte[] KEY = {1, 2, 3};

    /** Asks again as soon as it has an answer; after a refusal when that says. */
    private static final class Caller extends OperationRequest
    {
        private final PeerIdentity user;
        private final RequestKind kind;
        private long tookNs;
        private long askedNs;
        private long waitedNs;
        private boolean hasBegun;
        private boolean isPausing;
        private long againNs;
        private int answers;
        private int refusals;

        private Caller(final PeerIdentity user, final RequestKind kind)
        {
            this.user = user;
            this.kind = kind;
        }

        private void look(final SimCluster cluster, final TableReference table)
        {
            final long nowNs = cluster.world().clock().nanoTime();
            final int state = state();
            if (!hasBegun && (NodeRequest.STARTED == state || NodeRequest.DONE == state))
            {
                hasBegun = true;
                waitedNs += nowNs - askedNs;
            }
            if (NodeRequest.DONE == state && !isPausing)
            {
                answers++;
                tookNs += nowNs - askedNs;
                isPausing = true;
                final boolean isRefused = OperationAnswer.QUOTA_EXCEEDED == answer();
                refusals += isRefused ? 1 : 0;
                againNs = isRefused ? nowNs + version() : nowNs;
                assertThat(answer()).isIn(OperationAnswer.QUOTA_EXCEEDED,
                    0 == table.id() ? OperationAnswer.NO_SUCH_TABLE : OperationAnswer.FOUND);
            }
            if (NodeRequest.IDLE == state || isPausing && againNs - nowNs <= 0)
            {
                isPausing = false;
                ask(kind, table, kind.isRange() ? null : KEY, null, 0, nowNs + TIMEOUT_NS);
                caller(user);
                hasBegun = false;
                askedNs = nowNs;
                final int status = cluster.computes().getLast().node().endpoint().submit(this);
                assertThat(status).isEqualTo(ComputeEndpoint.ACCEPTED);
            }
        }

        private double meanWaitNs()
        {
            return (double)waitedNs / answers;
        }

        private double meanNs()
        {
            return (double)tookNs / answers;
        }

        @Override
        protected void onDone()
        {
            // polled
        }
    }

    private static void call(final SimCluster cluster, final User user)
    {
        final SimNode machine = cluster.world().addNode("admin-" + user.name());
        final RaasContext raas = RaasContext.open(machine.device(),
            new RaasConfiguration().identity(PeerIdentity.UNREGISTERED));
        machine.addAgent(new Agent()
        {
            @Override
            public int doWork()
            {
                return raas.poll();
            }

            @Override
            public String roleName()
            {
                return "admin";
            }
        });
        final VirtualQp vqp = raas.connect(cluster.metaServer().address(), (on, cookie, status) -> {}, TIMEOUT_NS);
        cluster.world().runUntil(() -> VirtualQp.State.READY == vqp.state(), MAX_STEPS);
        final ControlCall<User> call = new MetaClient(raas, vqp).putUser(user, TIMEOUT_NS);
        cluster.world().runUntil(call::isDone, MAX_STEPS);
        assertThat(call.status()).as(call.failure()).isEqualTo(ControlStatus.OK);
    }

    private static User user(final String name, final UserQuota quota)
    {
        return new User(name, 0, 0, 0, SecretVerifier.ofNobody(new byte[32], name),
            List.of(new Grant("t", TableRight.READ.bit(), new byte[0])), quota);
    }

    private static Caller run(
        final long seed, final boolean areUsers, final int greedyRequests, final UserQuota greedyQuota)
    {
        return run(seed, areUsers, greedyRequests, greedyQuota, RequestKind.GET, QUIET_REQUESTS);
    }

    private static Caller run(
        final long seed, final boolean areUsers, final int greedyRequests, final UserQuota greedyQuota,
        final RequestKind kind, final int quietRequests)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 1))
        {
            final KvTable table = cluster.createTable("t", 50);
            final TableReference reference = new TableReference("t", cluster.tables().getFirst().tableId());
            final var put = table.putAsync(KEY, new byte[100]);
            cluster.world().runUntil(put::isDone, MAX_STEPS);
            final ComputeEndpoint endpoint = cluster.computes().getLast().node().endpoint();
            if (areUsers)
            {
                call(cluster, user("greedy", greedyQuota));
                call(cluster, user("quiet", UserQuota.NONE));
                cluster.world().runUntil(() -> 2 == endpoint.access().users().size(), MAX_STEPS);
            }
            final Caller quiet = new Caller(
                areUsers ? endpoint.access().user("quiet").identity() : null, kind);
            final List<Caller> greedy = new ArrayList<>();
            for (int i = 0; i < greedyRequests; i++)
            {
                greedy.add(new Caller(areUsers ? endpoint.access().user("greedy").identity() : null, kind));
            }
            cluster.world().runUntil(() ->
            {
                greedy.forEach((caller) -> caller.look(cluster, reference));
                quiet.look(cluster, reference);
                return quiet.answers >= quietRequests;
            }, MAX_STEPS);
            assertThat(quiet.refusals).isZero();
            if (UserQuota.NONE.equals(greedyQuota))
            {
                assertThat(greedy.stream().mapToInt((caller) -> caller.answers).sum())
                    .isGreaterThanOrEqualTo(greedyRequests);
                assertThat(greedy).allMatch((caller) -> 0 == caller.refusals);
            }
            else
            {
                assertThat(greedy).anyMatch((caller) -> caller.refusals > 0);
            }
            return quiet;
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldWaitNoLongerThanTwiceAsAlone(final long seed)
    {
        final double aloneNs = run(seed, true, 0, UserQuota.NONE).meanWaitNs();
        final double besideNs = run(seed, true, GREEDY_REQUESTS, UserQuota.NONE).meanWaitNs();
        System.out.printf("seed %d: queue wait of a quiet user alone %.0f ns, beside a greedy one %.0f ns%n",
            seed, aloneNs, besideNs);
        assertThat(besideNs).isLessThanOrEqualTo(2 * aloneNs);
    }

    /** {@link #run} expects refusals of the one, and none of the other. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldRefuseOnlyWhatIsOverItsOwnQuota(final long seed)
    {
        assertThat(run(seed, true, 100, new UserQuota(100_000, 0, 4, 0, 0)).answers).isEqualTo(QUIET_REQUESTS);
    }

    /** Without users there is one queue for all. */
    @ParameterizedTest
    @ValueSource(longs = {1})
    void shouldWaitLongWhereThereAreNoTurns(final long seed)
    {
        final double aloneNs = run(seed, false, 0, UserQuota.NONE).meanWaitNs();
        final double besideNs =
            run(seed, false, GREEDY_REQUESTS, UserQuota.NONE, RequestKind.GET, QUEUED_REQUESTS).meanWaitNs();
        assertThat(besideNs).isGreaterThan(4 * aloneNs);
    }

    /** One part of a range at a time is read: a quiet one waits for that and for one of the other, not for all. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void shouldTakeTurnsWithScansToo(final long seed)
    {
        final double aloneNs = run(seed, true, 0, UserQuota.NONE, RequestKind.COUNT, QUIET_REQUESTS).meanNs();
        final double besideNs =
            run(seed, true, GREEDY_SCANS, UserQuota.NONE, RequestKind.COUNT, QUIET_REQUESTS).meanNs();
        System.out.printf("seed %d: a count of a quiet user alone %.0f ns, beside a greedy one %.0f ns%n",
            seed, aloneNs, besideNs);
        assertThat(besideNs).isLessThanOrEqualTo(4 * aloneNs);
        assertThat(run(seed, false, GREEDY_SCANS, UserQuota.NONE, RequestKind.COUNT, QUIET_REQUESTS).meanNs())
            .as("without users").isGreaterThan(20 * aloneNs);
    }

    /** Of operations that wait for tables that are made up no more wait than of others. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void shouldCountWhatWaitsForATable(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 1))
        {
            cluster.createTable("t", 50);
            final ComputeEndpoint endpoint = cluster.computes().getLast().node().endpoint();
            call(cluster, new User("greedy", 0, 0, 0, SecretVerifier.ofNobody(new byte[32], "greedy"),
                List.of(new Grant(Grant.ALL_TABLES, TableRight.READ.bit(), new byte[0])),
                new UserQuota(0, 0, OUTSTANDING, 0, 0)));
            cluster.world().runUntil(() -> 1 == endpoint.access().users().size(), MAX_STEPS);
            final List<Caller> greedy = new ArrayList<>();
            for (int i = 0; i < GREEDY_SCANS; i++)
            {
                greedy.add(new Caller(endpoint.access().user("greedy").identity(), RequestKind.GET));
            }
            for (int i = 0; i < greedy.size(); i++)
            {
                greedy.get(i).look(cluster, new TableReference("made-up-" + i, 0));
            }
            cluster.world().runUntil(() -> greedy.stream().allMatch((caller) -> NodeRequest.DONE == caller.state()),
                MAX_STEPS);
            assertThat(greedy.stream().filter((caller) -> OperationAnswer.NO_SUCH_TABLE == caller.answer()))
                .hasSizeBetween(OUTSTANDING, 2 * OUTSTANDING);
            assertThat(greedy.stream().filter((caller) -> OperationAnswer.QUOTA_EXCEEDED == caller.answer()))
                .hasSizeGreaterThanOrEqualTo(GREEDY_SCANS - 2 * OUTSTANDING);
        }
    }
}
