package io.verbena.protocol.access;

import com.sun.management.ThreadMXBean;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.identity.IdentitySecret;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class UserRightsTest
{
    private static final int READ = TableRight.READ.bit();
    private static final int WRITE = TableRight.WRITE.bit();
    private static final int ADMIN = TableRight.ADMIN.bit();
    private static final int CALLS = 200_000;

    private static byte[] bytes(final String text)
    {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static User user(final String name, final int number, final Grant... grants)
    {
        return new User(name, number, 10 + number, 1, SecretVerifier.ofNobody(new byte[32], name), List.of(grants));
    }

    private static UserRights rights(final Grant... grants)
    {
        final User user = user("ann", 1, grants);
        return AccessRules.of(null, 1, List.of(user)).rights(user.identity());
    }

    private static boolean allows(
        final UserRights rights, final int wanted, final int tableId, final String table, final String key)
    {
        return rights.allows(wanted, tableId, table, null == key ? null : bytes(key), null == key ? 0 : key.length());
    }

    @Test
    void shouldAllowWhatWasGrantedAndNothingElse()
    {
        final UserRights rights = rights(new Grant("orders", READ | WRITE, new byte[0]),
            new Grant("users", READ, bytes("ann:")));
        assertThat(allows(rights, READ, 1, "orders", "a")).isTrue();
        assertThat(allows(rights, READ | WRITE, 1, "orders", "a")).isTrue();
        assertThat(allows(rights, READ, 1, "orders", null)).as("all of it").isTrue();
        assertThat(allows(rights, ADMIN, 1, "orders", "a")).isFalse();
        assertThat(allows(rights, READ, 2, "users", "ann:1")).isTrue();
        assertThat(allows(rights, READ, 2, "users", "ann:")).isTrue();
        assertThat(allows(rights, READ, 2, "users", "ann")).as("shorter than the prefix").isFalse();
        assertThat(allows(rights, READ, 2, "users", "bob:1")).isFalse();
        assertThat(allows(rights, WRITE, 2, "users", "ann:1")).isFalse();
        assertThat(allows(rights, READ | WRITE, 2, "users", "ann:1")).isFalse();
        assertThat(allows(rights, READ, 2, "users", null)).as("all of it").isFalse();
        assertThat(allows(rights, READ, 3, "other", "ann:1")).isFalse();
        assertThat(allows(rights, READ, 4, "*", "ann:1")).isFalse();
    }

    @Test
    void shouldCompareOnlyTheKeyAndNotWhatLiesBehindIt()
    {
        final UserRights rights = rights(new Grant("t", READ, bytes("ann:")));
        assertThat(rights.allows(READ, 1, "t", bytes("ann:1 of an earlier key"), 3)).isFalse();
        assertThat(rights.allows(READ, 1, "t", bytes("ann:1 of an earlier key"), 4)).isTrue();
    }

    @Test
    void shouldPutGrantsOfOneTableTogether()
    {
        final UserRights rights = rights(new Grant("t", READ, new byte[0]), new Grant("t", WRITE, bytes("a")),
            new Grant(Grant.ALL_TABLES, ADMIN, new byte[0]));
        assertThat(allows(rights, READ | WRITE | ADMIN, 1, "t", "a1")).isTrue();
        assertThat(allows(rights, READ | WRITE, 1, "t", "b1")).isFalse();
        assertThat(rights.allowsAny(ADMIN, "anything")).isTrue();
        assertThat(rights.allowsAny(WRITE, "anything")).isFalse();
        assertThat(rights.allowsAny(READ, "t")).isTrue();
        assertThat(rights.allowsAny(ADMIN, Grant.ALL_TABLES)).isTrue();
        assertThat(rights(new Grant("t", TableRight.ALL, new byte[0])).allowsAny(ADMIN, Grant.ALL_TABLES)).isFalse();
    }

    @Test
    void shouldAllowEverythingAsLongAsThereIsNoUser()
    {
        final AccessRules none = AccessRules.of(null, 1, List.of());
        assertThat(none.isEnforced()).isFalse();
        assertThat(none.rights(PeerIdentity.CLIENT)).isNull();
        assertThat(none.rights(PeerIdentity.user(1, 1))).isNull();
        assertThat(none.suspended("why").rights(PeerIdentity.CLIENT)).as("nobody could be meant").isNull();
    }

    @Test
    void shouldAllowStrangersNothingOnceThereIsAUser()
    {
        final User ann = user("ann", 1, new Grant(Grant.ALL_TABLES, TableRight.ALL, new byte[0]));
        final AccessRules rules = AccessRules.of(null, 1, List.of(ann));
        assertThat(rules.isEnforced()).isTrue();
        for (final PeerIdentity stranger : List.of(PeerIdentity.CLIENT, PeerIdentity.UNREGISTERED,
            PeerIdentity.user(1, 10), PeerIdentity.user(1, 12), PeerIdentity.user(2, 11), new PeerIdentity(1, 11)))
        {
            assertThat(allows(rules.rights(stranger), READ, 1, "t", "a")).as("%s", stranger).isFalse();
            assertThat(rules.rights(stranger).allowsAny(TableRight.ALL, "t")).as("%s", stranger).isFalse();
            assertThat(rules.rights(stranger).refusal("GET", "t")).contains("this cluster has users");
        }
        assertThat(allows(rules.rights(ann.identity()), READ, 1, "t", "a")).isTrue();
        assertThat(rules.rights(PeerIdentity.OPERATOR)).as("everything").isNull();
        assertThat(rules.rights(null)).as("the node itself").isNull();
    }

    @Test
    void shouldAllowUsersNothingWhileTheListIsNotKnown()
    {
        final User ann = user("ann", 1, new Grant(Grant.ALL_TABLES, TableRight.ALL, new byte[0]));
        final AccessRules rules = AccessRules.of(null, 1, List.of(ann)).suspended("the list is old");
        assertThat(rules.isSuspended()).isTrue();
        assertThat(allows(rules.rights(ann.identity()), READ, 1, "t", "a")).isFalse();
        assertThat(rules.rights(ann.identity()).refusal("GET", "t")).isEqualTo("the list is old");
        assertThat(rules.rights(PeerIdentity.OPERATOR)).isNull();
        assertThat(allows(rules.with(2, List.of(ann)).rights(ann.identity()), READ, 1, "t", "a")).isTrue();
    }

    @Test
    void shouldDeriveAnotherSecretForEachUserAndEachOfItsSecrets()
    {
        final IdentitySecret cluster = IdentitySecret.random(new SecureRandom());
        final AccessRules rules = AccessRules.of(cluster, 1, List.of());
        assertThat(rules.secretOf(PeerIdentity.OPERATOR)).isEqualTo(cluster);
        assertThat(rules.secretOf(PeerIdentity.CLIENT)).isNull();
        assertThat(rules.secretOf(PeerIdentity.UNREGISTERED)).isEqualTo(cluster);
        assertThat(AccessRules.NONE.secretOf(PeerIdentity.UNREGISTERED)).isNull();
        assertThat(rules.secretOf(new PeerIdentity(1, 1))).as("a node").isNull();
        assertThat(rules.secretOf(PeerIdentity.user(1, 1))).isNotEqualTo(cluster)
            .isNotEqualTo(rules.secretOf(PeerIdentity.user(2, 1)))
            .isNotEqualTo(rules.secretOf(PeerIdentity.user(1, 2)))
            .isEqualTo(AccessRules.of(cluster, 9, List.of()).secretOf(PeerIdentity.user(1, 1)));
        assertThat(AccessRules.NONE.secretOf(PeerIdentity.OPERATOR)).as("no cluster, no operator").isNull();
    }

    @Test
    void shouldReadAndWriteRightsAsText()
    {
        assertThat(TableRight.parse("read, WRITE")).isEqualTo(READ | WRITE);
        assertThat(TableRight.parse("admin")).isEqualTo(ADMIN);
        for (final String wrong : List.of("", "reads", "read,", "read;write", "none"))
        {
            assertThat(TableRight.parse(wrong)).as(wrong).isZero();
        }
        assertThat(TableRight.text(TableRight.ALL)).isEqualTo("read,write,admin");
    }

    /** A ticket is bound to the certificate of its login, and says nothing of another one. */
    @Test
    void shouldGiveEachLoginASecretUntilItsCertificateIsRevoked()
    {
        final IdentitySecret cluster = IdentitySecret.random(new SecureRandom());
        final User ann = user("ann", 1, new Grant("t", READ, new byte[0]));
        final AccessRules rules = AccessRules.of(cluster, 1, List.of(ann));
        final PeerIdentity first = ann.identity().withLogin(7);
        final PeerIdentity second = ann.identity().withLogin(8);
        final IdentitySecret secret = rules.secretOf(first);
        assertThat(secret).isNotEqualTo(rules.secretOf(second)).isNotEqualTo(rules.secretOf(ann.identity()))
            .isNotEqualTo(rules.secretOf(PeerIdentity.user(2, 11).withLogin(7)));
        assertThat(allows(rules.rights(first), READ, 1, "t", "a")).isTrue();

        final AccessRules revoking = rules.revoking(2, List.of(7));
        assertThat(revoking.version()).isEqualTo(2);
        assertThat(revoking.secretOf(first)).isNull();
        assertThat(revoking.secretOf(second)).isEqualTo(rules.secretOf(second));
        assertThat(revoking.secretOf(ann.identity())).isEqualTo(rules.secretOf(ann.identity()));
        assertThat(revoking.secretOf(PeerIdentity.OPERATOR)).isEqualTo(cluster);
        assertThat(allows(revoking.rights(first), READ, 1, "t", "a")).isFalse();
        assertThat(revoking.rights(first).refusal("GET", "t")).contains("certificate").contains("was revoked");
        assertThat(allows(revoking.rights(second), READ, 1, "t", "a")).isTrue();
        assertThat(allows(revoking.rights(ann.identity()), READ, 1, "t", "a")).isTrue();
        assertThat(allows(revoking.with(3, List.of(ann)).rights(first), READ, 1, "t", "a"))
            .as("users change, and certificates do not").isFalse();
        assertThat(revoking.suspended("why").secretOf(first)).isNull();
        assertThat(allows(revoking.revoking(4, List.of()).rights(first), READ, 1, "t", "a")).as("restored").isTrue();
    }

    @Test
    void shouldRefuseUsersThatCannotBe()
    {
        final Grant good = new Grant("t", READ, new byte[0]);
        for (final String name : List.of("", "default", "Default", "-a", ".a", "a b", "a\nb", "a".repeat(65), "ä"))
        {
            assertThat(User.problem(name)).as(name).contains("is not allowed").doesNotContain("\n");
        }
        assertThat(User.problem("a".repeat(64))).isNull();
        assertThat(user("ann", 1, good).problem()).isNull();
        assertThat(user("ann", 1, new Grant("t", 0, new byte[0])).problem()).contains("rights 0");
        assertThat(user("ann", 1, new Grant("t", 8, new byte[0])).problem()).contains("rights 8");
        assertThat(user("ann", 1, new Grant("", READ, new byte[0])).problem()).contains("table ''");
        assertThat(user("ann", 1, new Grant("t".repeat(129), READ, new byte[0])).problem()).contains("not possible");
        assertThat(user("ann", 1, new Grant("t", READ, new byte[65])).problem()).contains("65 bytes");
        assertThat(user("ann", 1, new Grant("t".repeat(128), READ, new byte[64])).problem()).isNull();
        assertThat(user("ann", 1, Collections.nCopies(17, good).toArray(Grant[]::new)).problem())
            .contains("17 grants");
    }

    /** What each request of a user costs: nothing that has to be collected. */
    @Test
    void shouldAllocateNothingForARequest()
    {
        final List<User> users = new ArrayList<>();
        for (int i = 1; i <= User.MAX_USERS; i++)
        {
            users.add(user("u" + i, i, new Grant("t", READ, bytes("key"))));
        }
        final AccessRules rules = AccessRules.of(null, 1, users).revoking(2, List.of(5, 6, 7));
        final PeerIdentity caller = users.get(500).identity().withLogin(123_456);
        final byte[] key = bytes("key1");
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 5 && least > 0; attempt++)
        {
            final long before = threads.getCurrentThreadAllocatedBytes();
            final long overhead = threads.getCurrentThreadAllocatedBytes() - before;
            final long start = threads.getCurrentThreadAllocatedBytes();
            int allowed = 0;
            for (int i = 0; i < CALLS; i++)
            {
                allowed += rules.rights(caller).allows(READ, 7, "t", key, key.length) ? 1 : 0;
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - start - overhead);
            assertThat(allowed).isEqualTo(CALLS);
        }
        assertThat(least).as("bytes allocated in " + CALLS + " requests").isZero();
    }
}
