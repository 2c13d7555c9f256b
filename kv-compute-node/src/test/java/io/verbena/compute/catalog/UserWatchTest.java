package io.verbena.compute.catalog;

import io.verbena.compute.MetaRig;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.access.Grant;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.TableRight;
import io.verbena.protocol.access.User;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.RevocationPage;
import io.verbena.protocol.message.UserPage;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.tls.TlsSettings;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

import static org.assertj.core.api.Assertions.assertThat;

/** A node goes by the list of users that the meta server has, or by none. */
class UserWatchTest
{
    private static final byte[] KEY = {1};

    private final MetaRig rig = new MetaRig();
    private final CatalogWatch catalog;
    private final TreeMap<String, User> users = new TreeMap<>();
    private final List<RevokedCertificate> revoked = new ArrayList<>();
    private final List<AccessRules> taken = new ArrayList<>();
    private final UserWatch watch;
    private long version = 20;
    private int pageUsers = 100;
    private int pageCertificates = 100;
    private int generation;

    UserWatchTest()
    {
        final UnexpectedFailures failures = new UnexpectedFailures(rig.world.clock());
        rig.registered();
        catalog = new CatalogWatch(rig.link, new TableRegistry(rig.link, (descriptor) -> null, () -> 0,
            MetaRig.TIMEOUT_NS, failures), MetaRig.TIMEOUT_NS, failures);
        catalog.onHeard(10, version);
        watch = new UserWatch(rig.link, catalog, UserWatch.before(rig.metaServer), rig.nowNs(), MetaRig.TIMEOUT_NS,
            taken::add);
        answer();
    }

    private void answer()
    {
        rig.answer("users", (arguments) -> page((String)arguments[0], (long)arguments[1]));
        rig.answer("revocations", (arguments) -> revocations((RevokedCertificate)arguments[0]));
    }

    private UserPage page(final String afterName, final long knownVersion)
    {
        if (version == knownVersion && afterName.isEmpty())
        {
            return new UserPage(version, true, List.of(), false);
        }
        final List<User> rest = List.copyOf(users.tailMap(afterName, false).values());
        return new UserPage(
            version, false, rest.subList(0, Math.min(pageUsers, rest.size())), rest.size() > pageUsers);
    }

    private RevocationPage revocations(final RevokedCertificate after)
    {
        final int from = null == after ? 0 : revoked.indexOf(after) + 1;
        final int end = Math.min(revoked.size(), from + pageCertificates);
        return new RevocationPage(List.copyOf(revoked.subList(from, end)), end < revoked.size());
    }

    private void revoke(final int number)
    {
        revoked.add(new RevokedCertificate(
            ByteBuffer.allocate(TlsSettings.FINGERPRINT_BYTES).putInt(0, number).array(), "CN=" + number));
    }

    private boolean mayReadWith(final User user, final int certificate)
    {
        return taken.getLast().rights(user.identity().withLogin(certificate))
            .allows(TableRight.READ.bit(), 1, "t", KEY, 1);
    }

    private User put(final String name)
    {
        final User user = new User(name, users.size() + 1, ++generation, 5, SecretVerifier.ofNobody(KEY, name),
            List.of(new Grant(Grant.ALL_TABLES, TableRight.ALL, new byte[0])));
        users.put(name, user);
        return user;
    }

    private boolean mayRead(final User user)
    {
        return taken.getLast().rights(user.identity()).allows(TableRight.READ.bit(), 1, "t", KEY, 1);
    }

    private void hear()
    {
        version++;
        catalog.onHeard(10, version);
        assertThat(watch.isBusy()).isTrue();
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    @Test
    void shouldListUsersOnceBeforeTheNodeServes()
    {
        final User ann = put("ann");
        assertThat(watch.hasListed()).isFalse();
        rig.run(watch::poll);
        rig.runUntil(watch::hasListed);
        assertThat(taken).hasSize(1);
        assertThat(mayRead(ann)).isTrue();
        assertThat(watch.isBusy()).isFalse();
        rig.runFor(10 * MetaRig.TIMEOUT_NS);
        assertThat(rig.count("users")).as("nothing is asked while nothing is new").isEqualTo(1);
    }

    @Test
    void shouldTakeOverAnEmptyListAndSayThatItIsOne()
    {
        rig.run(watch::poll);
        rig.runUntil(watch::hasListed);
        assertThat(taken).hasSize(1);
        assertThat(taken.getLast().isEnforced()).isFalse();
    }

    @Test
    void shouldAskAgainWhenTheVersionIsAnotherAndKeepWhatIsUnchanged()
    {
        final User ann = put("ann");
        rig.run(watch::poll);
        rig.runUntil(watch::hasListed);
        catalog.onHeard(10, version + 1); // a node has joined
        rig.runUntil(() -> !watch.isBusy());
        assertThat(taken).as("unchanged").hasSize(1);
        catalog.onHeard(10, version + 2);
        version += 2;
        users.remove("ann");
        put("ben");
        rig.runUntil(() -> !watch.isBusy());
        assertThat(taken).hasSize(2);
        assertThat(mayRead(ann)).isFalse();
    }

    @Test
    void shouldPutPagesOfOneVersionTogether()
    {
        pageUsers = 2;
        for (final String name : List.of("a", "b", "c", "d", "e"))
        {
            put(name);
        }
        rig.run(watch::poll);
        rig.runUntil(watch::hasListed);
        assertThat(taken.getLast().users()).extracting(User::name).containsExactly("a", "b", "c", "d", "e");
        assertThat(rig.count("users")).isEqualTo(3);
    }

    @Test
    void shouldBeginAnewWhenTheListChangesBetweenTwoPages()
    {
        pageUsers = 1;
        put("a");
        put("b");
        rig.answer("users", (arguments) ->
        {
            final UserPage page = page((String)arguments[0], (long)arguments[1]);
            if (2 == rig.count("users"))
            {
                users.remove("a");
                version++;
                return page((String)arguments[0], (long)arguments[1]);
            }
            return page;
        });
        rig.run(watch::poll);
        rig.runUntil(watch::hasListed);
        assertThat(taken.getLast().users()).extracting(User::name).containsExactly("b");
        assertThat(taken.getLast().version()).isEqualTo(version);
    }

    /** A right that was taken away is not used for longer than the timeout after the node has heard of it. */
    @Test
    void shouldAllowUsersNothingWhenTheListCannotBeRead()
    {
        final User ann = put("ann");
        rig.run(watch::poll);
        rig.runUntil(watch::hasListed);
        rig.refuse("users", ControlStatus.UNAVAILABLE);
        hear();
        final long heardNs = rig.nowNs();
        rig.runUntil(() -> taken.size() > 1);
        assertThat(rig.nowNs() - heardNs).isBetween(MetaRig.TIMEOUT_NS, 2 * MetaRig.TIMEOUT_NS);
        assertThat(taken.getLast().isSuspended()).isTrue();
        assertThat(mayRead(ann)).isFalse();
        assertThat(watch.failure()).contains("the test says so");
        rig.runFor(10 * MetaRig.TIMEOUT_NS);
        assertThat(taken).as("said once").hasSize(2);

        answer();
        rig.runUntil(() -> !watch.isBusy());
        assertThat(mayRead(ann)).as("once it can be read").isTrue();
        assertThat(watch.failure()).isEmpty();
    }

    /** Suspended, and then the list turns out to be the one that is known. */
    @Test
    void shouldGoOnWithTheListThatItKnowsWhenThatIsTheNewest()
    {
        final User ann = put("ann");
        rig.run(watch::poll);
        rig.runUntil(watch::hasListed);
        rig.refuse("users", ControlStatus.UNAVAILABLE);
        catalog.onHeard(10, version + 1);
        rig.runUntil(() -> taken.size() > 1);
        answer();
        rig.runUntil(() -> !watch.isBusy());
        assertThat(taken).hasSize(3);
        assertThat(mayRead(ann)).isTrue();
    }

    @Test
    void shouldAllowNothingToWhoHasLoggedInWithARevokedCertificate()
    {
        final User ann = put("ann");
        rig.run(watch::poll);
        rig.runUntil(watch::hasListed);
        assertThat(mayReadWith(ann, 7)).isTrue();
        revoke(7);
        hear();
        rig.runUntil(() -> !watch.isBusy());
        assertThat(mayReadWith(ann, 7)).isFalse();
        assertThat(taken.getLast().rights(ann.identity().withLogin(7)).refusal("GET", "t"))
            .contains("the certificate with which this user has logged in was revoked");
        assertThat(mayReadWith(ann, 8)).as("with another certificate").isTrue();
        assertThat(mayRead(ann)).as("with none").isTrue();
        revoked.clear();
        hear();
        rig.runUntil(() -> !watch.isBusy());
        assertThat(mayReadWith(ann, 7)).as("it was restored").isTrue();
    }

    @Test
    void shouldPutPartsOfTheListOfCertificatesTogether()
    {
        pageCertificates = 2;
        for (int number = 1; number <= 5; number++)
        {
            revoke(number);
        }
        final User ann = put("ann");
        rig.run(watch::poll);
        rig.runUntil(watch::hasListed);
        assertThat(rig.count("revocations")).isEqualTo(3);
        for (int number = 1; number <= 5; number++)
        {
            assertThat(mayReadWith(ann, number)).isFalse();
        }
        assertThat(mayReadWith(ann, 6)).isTrue();
        revoked.removeFirst();
        revoked.removeFirst();
        hear();
        rig.runUntil(() -> !watch.isBusy());
        assertThat(mayReadWith(ann, 2)).as("the list before is forgotten").isTrue();
        assertThat(mayReadWith(ann, 5)).isFalse();
    }

    /** As long as it is not known which certificates are revoked, no login counts. */
    @Test
    void shouldAllowUsersNothingWhenTheListOfCertificatesCannotBeRead()
    {
        final User ann = put("ann");
        rig.run(watch::poll);
        rig.runUntil(watch::hasListed);
        rig.refuse("revocations", ControlStatus.UNAVAILABLE);
        hear();
        final long heardNs = rig.nowNs();
        rig.runUntil(() -> taken.size() > 1);
        assertThat(rig.nowNs() - heardNs).isBetween(MetaRig.TIMEOUT_NS, 2 * MetaRig.TIMEOUT_NS);
        assertThat(taken.getLast().isSuspended()).isTrue();
        assertThat(watch.failure()).contains("the test says so");
        answer();
        rig.runUntil(() -> !watch.isBusy());
        assertThat(mayRead(ann)).isTrue();
        assertThat(watch.failure()).isEmpty();
    }
}
