package io.verbena.resp;

import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.ServingNodes;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.directory.TcpAddress;
import io.verbena.rdma.verbs.DeviceAddress;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** How the compute nodes look to cluster clients, byte for byte. */
@Timeout(60)
class RespClusterCommandsTest
{
    private static final String ID_2 = "0000000200000000000000000000000000000014";
    private static final String ID_5 = "0000000500000000000000000000000000000032";
    private static final String ID_9 = "000000090000000000000000000000000000005a";

    private final MapEndpoint tables = new MapEndpoint(1);
    private volatile List<PeerRecord> listed = List.of();
    private volatile boolean isJoining;
    private RespServer server;
    private RawClient client;

    /** Lists nodes, and passes all else on. */
    private final class Listing implements ComputeEndpoint
    {
        @Override
        public int id()
        {
            return 1;
        }

        @Override
        public int submit(final NodeRequest request)
        {
            if (request instanceof final ControlRequest control &&
                ControlRequest.Kind.SERVING_NODES == control.kind())
            {
                request.queue();
                request.start();
                control.answer(isJoining ? ControlRequest.Status.NOT_SERVING : ControlRequest.Status.OK,
                    isJoining ? null : new ServingNodes(5, listed), null);
                request.complete();
                return ACCEPTED;
            }
            return tables.submit(request);
        }
    }

    private static PeerRecord node(final int id, final String host) throws IOException
    {
        return new PeerRecord(id, 10 * id, 1, NodeRole.COMPUTE_NODE, new DeviceAddress(1, id), 2,
            new RemoteRegion(0, 0, 0), ReadTargetAddress.NONE,
            TcpAddress.of(InetAddress.getByName(host), 7_000 + id));
    }

    @BeforeEach
    void open() throws IOException
    {
        listed = List.of(node(2, "10.0.0.2"), node(5, "10.0.0.5"), node(9, "fd00::9"));
        server = RespServer.open(new RespConfiguration().port(0).cluster(true), new Listing(),
            SystemNanoClock.INSTANCE, () -> { });
        client = new RawClient(server.port());
    }

    @AfterEach
    void close() throws IOException
    {
        client.close();
        server.close();
        tables.close();
    }

    @Test
    void shouldGiveEachNodeAnEqualRangeOfSlots() throws IOException
    {
        assertThat(client.ask("CLUSTER SLOTS")).isEqualTo("*3" +
            " *3 :0 :5460 *4 $8 10.0.0.2 :7002 $40 " + ID_2 + " *0" +
            " *3 :5461 :10921 *4 $8 10.0.0.5 :7005 $40 " + ID_5 + " *0" +
            " *3 :10922 :16383 *4 $14 fd00:0:0:0:0:0:0:9 :7009 $40 ".replace("$14", "$18") + ID_9 + " *0");
        listed = List.of(listed.get(1));
        assertThat(client.ask("CLUSTER SLOTS"))
            .isEqualTo("*1 *3 :0 :16383 *4 $8 10.0.0.5 :7005 $40 " + ID_5 + " *0");
        listed = List.of();
        assertThat(client.ask("cluster slots")).isEqualTo("*0");
    }

    @Test
    void shouldListTheNodes() throws IOException
    {
        final String lines = ID_2 + " 10.0.0.2:7002@0 master - 0 0 20 connected 0-5460\n" +
            ID_5 + " 10.0.0.5:7005@0 myself,master - 0 0 50 connected 5461-10921\n" +
            ID_9 + " fd00:0:0:0:0:0:0:9:7009@0 master - 0 0 90 connected 10922-16383\n";
        assertThat(client.ask("CLUSTER NODES")).isEqualTo("$" + lines.length() + " " + lines);
        assertThat(client.ask("CLUSTER MYID")).isEqualTo("$40 " + ID_5);
        listed = List.of(listed.getFirst());
        assertThat(client.ask("CLUSTER SHARDS")).isEqualTo("*1 *4 $5 slots *2 :0 :16383 $5 nodes *1 *14" +
            " $2 id $40 " + ID_2 + " $4 port :7002 $2 ip $8 10.0.0.2 $8 endpoint $8 10.0.0.2" +
            " $4 role $6 master $18 replication-offset :0 $6 health $6 online");
        client.ask("HELLO 3");
        assertThat(client.ask("CLUSTER SHARDS")).startsWith("*1 %2 $5 slots *2 :0 :16383 $5 nodes *1 %7 $2 id $40");
    }

    @Test
    void shouldSayThatItIsACluster() throws IOException
    {
        assertThat(client.ask("CLUSTER INFO")).contains("cluster_state:ok\r\n", "cluster_slots_assigned:16384\r\n",
            "cluster_known_nodes:3\r\n", "cluster_size:3\r\n", "cluster_current_epoch:90\r\n",
            "cluster_my_epoch:50\r\n");
        listed = List.of();
        assertThat(client.ask("CLUSTER INFO")).contains("cluster_state:fail\r\n", "cluster_slots_ok:0\r\n",
            "cluster_known_nodes:0\r\n", "cluster_my_epoch:0\r\n");
        assertThat(client.ask("INFO")).contains("redis_mode:cluster\r\n", "cluster_enabled:1\r\n");
        assertThat(client.ask("CONFIG GET cluster-enabled")).isEqualTo("*2 $15 cluster-enabled $3 yes");
        assertThat(client.ask("HELLO")).contains(" $4 mode $7 cluster");
        for (final String command : List.of("READONLY", "READWRITE", "ASKING"))
        {
            assertThat(client.ask(command)).isEqualTo("+OK");
        }
        assertThat(client.ask("CLUSTER MEET 1 2")).isEqualTo("-ERR CLUSTER MEET is not supported: " +
            "nodes join and leave by the meta server");
        assertThat(client.ask("CLUSTER SLOTS 1"))
            .isEqualTo("-ERR wrong number of arguments for 'cluster|slots' command");
    }

    /** Slots as Redis' specification gives them, and as a server of Redis 7 replied. */
    @Test
    void shouldKnowTheSlotOfAKey() throws IOException
    {
        for (final String line : List.of("123456789 12739", "foo 12182", "hello 866", "{user1000}.following 3443",
            "{user1000}.followers 3443", "user1000 3443", "foo{}{bar} 8363", "foo{{bar}}zap 4015", "{bar 4015",
            "foo{bar}{zap} 5061", "bar 5061", "\"\" 0"))
        {
            final String[] parts = line.split(" ");
            assertThat(client.ask("CLUSTER KEYSLOT " + parts[0])).as(line).isEqualTo(":" + parts[1]);
        }
        assertThat(client.ask("CLUSTER KEYSLOT <65537>"))
            .isEqualTo("-ERR key has 65537 bytes: 1 to 65536 are possible");
    }

    @Test
    void shouldFindTheKeysOfASlot() throws IOException
    {
        // The table is not looked up before: the first command finds it.
        assertThat(client.ask("CLUSTER COUNTKEYSINSLOT 5061")).isEqualTo(":0");
        for (int i = 0; i < 30; i++)
        {
            client.ask("SET {bar}" + i + " v");
            client.ask("SET other" + i + " v");
        }
        assertThat(client.ask("CLUSTER COUNTKEYSINSLOT 5061")).isEqualTo(":30");
        assertThat(client.ask("CLUSTER GETKEYSINSLOT 5061 100")).startsWith("*30 $").contains("{bar}0", "{bar}29")
            .doesNotContain("other");
        assertThat(client.ask("CLUSTER GETKEYSINSLOT 5061 4")).startsWith("*4 $");
        assertThat(client.ask("CLUSTER GETKEYSINSLOT 5061 0")).isEqualTo("*0");
        assertThat(client.ask("CLUSTER COUNTKEYSINSLOT 16384")).isEqualTo("-ERR Invalid slot");
        assertThat(client.ask("CLUSTER COUNTKEYSINSLOT -1")).isEqualTo("-ERR Invalid slot");
        assertThat(client.ask("CLUSTER COUNTKEYSINSLOT x"))
            .isEqualTo("-ERR value is not an integer or out of range");
        assertThat(client.ask("CLUSTER GETKEYSINSLOT 0 -1")).isEqualTo("-ERR Invalid slot or number of keys");
        assertThat(client.ask("SELECT 77")).startsWith("-ERR");
        assertThat(client.ask("PING")).isEqualTo("+PONG");
    }

    @Test
    void shouldReplyInOrderWithinAPipeline() throws IOException
    {
        client.send(RawClient.command("SET a 1") + RawClient.command("CLUSTER MYID") + RawClient.command("GET a") +
            RawClient.command("CLUSTER COUNTKEYSINSLOT 15495") + RawClient.command("GET a"));
        final List<String> replies = new ArrayList<>();
        for (int i = 0; i < 5; i++)
        {
            replies.add(client.reply());
        }
        assertThat(replies).containsExactly("+OK", "$40 " + ID_5, "$1 1", ":1", "$1 1");
    }

    @Test
    void shouldSendClientsElsewhereWhileItJoins() throws IOException
    {
        isJoining = true;
        assertThat(client.ask("CLUSTER SLOTS"))
            .isEqualTo("-CLUSTERDOWN this node joins or leaves: NOT_SERVING; ask another");
        isJoining = false;
        assertThat(client.ask("CLUSTER MYID")).startsWith("$40");
    }

    @Test
    void shouldRefuseWithoutTheOption() throws IOException
    {
        try (RespServer alone = RespServer.open(new RespConfiguration().port(0), new Listing(),
            SystemNanoClock.INSTANCE, () -> { }); RawClient other = new RawClient(alone.port()))
        {
            for (final String command : List.of("CLUSTER SLOTS", "CLUSTER KEYSLOT a", "CLUSTER MEET a 1", "READONLY"))
            {
                assertThat(other.ask(command)).as(command)
                    .isEqualTo("-ERR This instance has cluster support disabled");
            }
            assertThat(other.ask("INFO")).contains("redis_mode:standalone\r\n", "cluster_enabled:0\r\n");
            assertThat(alone.announced()).isEqualTo(TcpAddress.NONE);
        }
    }

    @Test
    void shouldAnnounceAnAddressThatClientsReach()
    {
        assertThat(server.announced()).hasToString("127.0.0.1:" + server.port());
        final RespConfiguration everywhere =
            new RespConfiguration().port(0).host("0.0.0.0").openToAll(true).cluster(true);
        assertThatThrownBy(() -> open(everywhere)).isInstanceOf(RespException.class).hasMessage(
            "--resp-cluster with --resp-listen 0.0.0.0: no client can connect to this address: give the one that " +
                "clients reach with --resp-announce");
        assertThatThrownBy(() -> open(everywhere.announcedHost("::"))).hasMessageStartingWith("--resp-announce ::: no");
        assertThatThrownBy(() -> open(everywhere.announcedHost("no.such.host.invalid")))
            .hasMessage("--resp-announce no.such.host.invalid: no such address");
        try (RespServer announced = open(everywhere.announcedHost("10.1.2.3")))
        {
            assertThat(announced.announced()).hasToString("10.1.2.3:" + announced.port());
        }
    }

    private RespServer open(final RespConfiguration configuration)
    {
        return RespServer.open(configuration, tables, SystemNanoClock.INSTANCE, () -> { });
    }
}
