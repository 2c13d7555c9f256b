package io.verbena.resp;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.access.Grant;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.TableRight;
import io.verbena.protocol.access.User;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** CLIENT where the cluster has users. */
@Timeout(60)
class RespClientUsersTest extends ServerFixture
{
    private static final String SECRET = "a-long-secret";
    private static final byte[] ALL_KEYS = {};
    private int port;

    @BeforeEach
    void putUsers()
    {
        port = open(new RespConfiguration().password("password".getBytes()));
        endpoint.access = AccessRules.NONE.with(1, List.of(
            user("ann", 1, new Grant("default", TableRight.ALL, ALL_KEYS)),
            user("bob", 2, new Grant(Grant.ALL_TABLES, TableRight.READ.bit() | TableRight.WRITE.bit(), ALL_KEYS)),
            user("root", 3, new Grant(Grant.ALL_TABLES, TableRight.ADMIN.bit(), ALL_KEYS))));
    }

    private static User user(final String name, final int number, final Grant grant)
    {
        return new User(name, number, 1, 1, SecretVerifier.of(SECRET), List.of(grant));
    }

    private RawClient client(final String user) throws IOException
    {
        final RawClient client = new RawClient(port);
        assertThat(client.ask("AUTH " + user + " " + ("default".equals(user) ? "password" : SECRET))).isEqualTo("+OK");
        return client;
    }

    private static String id(final RawClient client) throws IOException
    {
        return client.ask("CLIENT ID").substring(1);
    }

    @Test
    void shouldShowTheUserOfEachClient() throws IOException
    {
        try (RawClient ann = client("ann"); RawClient bob = new RawClient(port); RawClient owner = client("default"))
        {
            assertThat(bob.ask("HELLO 2 AUTH bob " + SECRET)).startsWith("*14 ");
            assertThat(owner.ask("CLIENT LIST")).containsPattern(
                "id=1 .* user=ann .*\nid=2 .* user=bob .*\nid=3 .* user=default .*\n");
            assertThat(ann.ask("CLIENT LIST")).as("its own").contains(" user=ann ")
                .doesNotContain("user=bob", "user=default");
            assertThat(ann.ask("CLIENT LIST ID 2")).doesNotContain("id=2");
            assertThat(ann.ask("CLIENT LIST TYPE normal")).contains(" user=ann ").doesNotContain("user=bob");
            assertThat(bob.ask("CLIENT INFO")).contains(" user=bob ");
            assertThat(bob.ask("AUTH ann " + SECRET)).isEqualTo("+OK");
            assertThat(bob.ask("CLIENT INFO")).contains(" user=ann ");
            assertThat(bob.ask("AUTH default wrong")).startsWith("-WRONGPASS");
            assertThat(bob.ask("CLIENT INFO")).contains(" user=ann ");
            bob.ask("RESET");
            assertThat(owner.ask("CLIENT LIST ID 2")).contains(" user=default ");
        }
    }

    @Test
    void shouldLetOnlyAdministratorsCloseOthers() throws IOException
    {
        try (RawClient ann = client("ann"); RawClient annToo = client("ann"); RawClient bob = client("bob");
            RawClient root = client("root"); RawClient owner = client("default"))
        {
            for (final RawClient weak : List.of(ann, bob))
            {
                assertThat(weak.ask("CLIENT KILL ID " + id(root))).startsWith("-NOPERM user ").contains("admin");
                assertThat(weak.ask("CLIENT KILL USER default")).startsWith("-NOPERM ");
                assertThat(weak.ask("CLIENT KILL TYPE normal")).startsWith("-NOPERM ");
            }
            assertThat(ann.ask("CLIENT KILL USER nobody")).isEqualTo("-ERR No such user 'nobody'");
            assertThat(ann.ask("CLIENT KILL USER ann")).as("its own, but for the one that asks").isEqualTo(":1");
            assertThat(annToo.reply()).isEmpty();
            assertThat(root.ask("CLIENT KILL USER bob")).isEqualTo(":1");
            assertThat(bob.reply()).isEmpty();
            assertThat(owner.ask("CLIENT KILL ID " + id(ann))).isEqualTo(":1");
            assertThat(ann.reply()).isEmpty();
            assertThat(root.ask("PING")).isEqualTo("+PONG");
        }
    }

    @Test
    void shouldLetOnlyAdministratorsPauseOthers() throws IOException
    {
        try (RawClient bob = client("bob"); RawClient root = client("root"))
        {
            assertThat(bob.ask("CLIENT PAUSE 100000")).startsWith("-NOPERM user bob may not pause");
            assertThat(root.ask("CLIENT PAUSE 100000 WRITE")).isEqualTo("+OK");
            assertThat(bob.ask("CLIENT UNPAUSE")).startsWith("-NOPERM user bob may not end a pause");
            bob.send(RawClient.command("DEL k"));
            await("bob waits", () -> 1 == server.pause().waiters());
            assertThat(root.ask("CLIENT UNPAUSE")).isEqualTo("+OK");
            assertThat(bob.reply()).as("carried out").isEqualTo(":0");
        }
    }
}
