package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/** Users, as they are typed: from the first {@code user add} to a right that is taken away. */
@Timeout(300)
class UserSystemTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(60);
    private static final String SECRET = "open sesame";

    @TempDir
    private Path directory;

    @AfterEach
    void leaveNothingBehind()
    {
        run("down", "--discard");
    }

    private CommandLines.Result run(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", directory.resolve("cluster").toString()));
        return CommandLines.run(all);
    }

    private void expect(final int status, final String text, final String... arguments)
    {
        final CommandLines.Result result = run(arguments);
        assertThat(result.status()).as("%s: %s%s", List.of(arguments), result.out(), result.err()).isEqualTo(status);
        final String shown = ExitStatus.OK == status ? result.out() : result.err();
        assertThat(shown).contains(text).doesNotContain(SECRET);
        assertThat(result.err()).hasLineCount(ExitStatus.OK == status ? 0 : 1);
    }

    /** What holds once every node has heard of it. */
    private void await(final int status, final String... arguments) throws InterruptedException
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        CommandLines.Result last = run(arguments);
        while (last.status() != status && System.nanoTime() - deadlineNs < 0)
        {
            Thread.sleep(50);
            last = run(arguments);
        }
        assertThat(last.status()).as("%s: %s%s", List.of(arguments), last.out(), last.err()).isEqualTo(status);
    }

    private String secretFile(final String secret) throws IOException
    {
        final Path file = directory.resolve("secret");
        Files.deleteIfExists(file);
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.writeString(file, secret + "\n").toString();
    }

    @Test
    void shouldRefuseWhatNoUserCanBeBeforeItConnects() throws IOException
    {
        final String file = secretFile(SECRET);
        expect(ExitStatus.USAGE, "is not allowed", "user", "add", "no name", "--new-secret-file", file);
        expect(ExitStatus.USAGE, "--grant read", "user", "add", "ann", "--grant", "read", "--new-secret-file", file);
        expect(ExitStatus.USAGE, "rights 'own'", "user", "add", "ann", "--grant", "own:t", "--new-secret-file", file);
        expect(ExitStatus.USAGE, "table name", "user", "add", "ann", "--grant", "read:-t", "--new-secret-file", file);
        expect(ExitStatus.USAGE, "--new-secret-file", "user", "add", "ann");
        expect(ExitStatus.USAGE, "limit 'rate=1'", "user", "quota", "ann", "rate=1");
        expect(ExitStatus.USAGE, "limit 'bytes=0'", "user", "quota", "ann", "bytes=0");
        expect(ExitStatus.USAGE, "limit 'bytes=-1'", "user", "quota", "ann", "bytes=-1");
        expect(ExitStatus.USAGE, "limit 'scans=9999999999'", "user", "quota", "ann", "scans=9999999999");
        expect(ExitStatus.USAGE, "100000001 operations a second", "user", "quota", "ann", "operations=100000001");
        expect(ExitStatus.USAGE, "limit 'none'", "user", "quota", "ann", "none", "scans=1");
        expect(ExitStatus.BAD_DATA, "8 to 1024", "user", "add", "ann", "--new-secret-file", secretFile("short"));
        expect(ExitStatus.BAD_DATA, "cannot be read", "user", "add", "ann", "--new-secret-file", "/no/such/file");
        expect(ExitStatus.USAGE, "--secret-file without --user", "get", "k", "--secret-file", file);
        expect(ExitStatus.USAGE, "without --secret-file", "get", "k", "--user", "ann");
    }

    @Test
    void shouldServeUsersByTheirRights() throws Exception
    {
        final String file = secretFile(SECRET);
        final CommandLines.Result up = run("up", "--memory", "64");
        assertThat(up.status()).as(up.err()).isZero();
        expect(ExitStatus.OK, "no users", "user", "list");
        expect(ExitStatus.OK, "", "put", "ann/1", "v".repeat(200));
        expect(ExitStatus.OK, "",
            "user", "add", "ann", "--grant", "read,write:default:ann/", "--new-secret-file", file);
        expect(ExitStatus.UNAVAILABLE, "there already", "user", "add", "ann", "--new-secret-file", file);
        expect(ExitStatus.OK, "read,write on table default, keys that begin with 'ann/'", "user", "list");

        await(ExitStatus.OK, "get", "ann/1", "--user", "ann", "--secret-file", file);
        expect(ExitStatus.NO_PERMISSION, "GET in table default is not permitted: user ann has no right",
            "get", "ben/1", "--user", "ann", "--secret-file", file);
        expect(ExitStatus.NO_PERMISSION, "PUT in table default is not permitted",
            "put", "ben/1", "v", "--user", "ann", "--secret-file", file);
        expect(ExitStatus.NO_PERMISSION, "not permitted", "scan", "--user", "ann", "--secret-file", file);
        expect(ExitStatus.NO_PERMISSION, "not permitted",
            "table", "create", "mine", "--records", "10", "--user", "ann", "--secret-file", file);
        expect(ExitStatus.NO_PERMISSION, "takes the cluster's token",
            "user", "list", "--user", "ann", "--secret-file", file);
        expect(ExitStatus.NO_PERMISSION, "takes the cluster's token",
            "node", "forget", "1", "--user", "ann", "--secret-file", file);
        expect(ExitStatus.OK, "", "get", "ann/1"); // with the token

        expect(ExitStatus.OK, "ann: no quota", "user", "quota", "ann");
        expect(ExitStatus.OK, "", "user", "quota", "ann", "bytes=1", "scans=7");
        expect(ExitStatus.OK, "quota: at each compute node 1 bytes a second, 7 scans at once", "user", "list");
        // Each compute node keeps the quota by itself, so that one may take what another refuses.
        assertThat(IntStream.range(0, 50).anyMatch((i) -> ExitStatus.UNAVAILABLE ==
            run("get", "ann/1", "--user", "ann", "--secret-file", file).status())).isTrue();
        expect(ExitStatus.OK, "", "user", "quota", "ann", "bytes=none");
        expect(ExitStatus.OK, "ann: quota: at each compute node 7 scans at once", "user", "quota", "ann");
        expectQuotaOfTables(file);
        expect(ExitStatus.OK, "", "user", "quota", "ann", "none");
        expect(ExitStatus.OK, "ann: no quota", "user", "quota", "ann");
        await(ExitStatus.OK, "get", "ann/1", "--user", "ann", "--secret-file", file);
        assertThat(Files.readString(directory.resolve("cluster/audit.jsonl")))
            .contains("\"ann, with a new secret").containsOnlyOnce("new secret");

        expect(ExitStatus.OK, "", "user", "grant", "ann", "none", "default", "--prefix", "ann/");
        expect(ExitStatus.OK, "ann: no rights", "user", "list");
        expect(ExitStatus.FAILED, "has no rights", "user", "grant", "ann", "none", "default", "--prefix", "ann/");
        await(ExitStatus.NO_PERMISSION, "get", "ann/1", "--user", "ann", "--secret-file", file);
        expect(ExitStatus.OK, "", "user", "grant", "ann", "read,admin", "*");
        await(ExitStatus.OK, "scan", "--user", "ann", "--secret-file", file);

        final String other = secretFile("another secret");
        expect(ExitStatus.OK, "", "user", "secret", "ann", "--new-secret-file", other);
        await(ExitStatus.OK, "get", "ann/1", "--user", "ann", "--secret-file", other);
        expect(ExitStatus.USAGE, "no such user with this secret",
            "get", "ann/1", "--user", "ann", "--secret-file", secretFile(SECRET));
        expect(ExitStatus.OK, "", "user", "remove", "ann");
        expect(ExitStatus.FAILED, "no user 'ann'", "user", "remove", "ann");
        expect(ExitStatus.FAILED, "no user 'ann'", "user", "grant", "ann", "read", "default");
    }

    private void expectQuotaOfTables(final String file) throws InterruptedException
    {
        expect(ExitStatus.OK, "", "user", "quota", "ann", "tables=1");
        expect(ExitStatus.OK, "ann: quota: 1 tables; at each compute node 7 scans at once", "user", "quota", "ann");
        expect(ExitStatus.OK, "", "user", "grant", "ann", "admin", "mine");
        expect(ExitStatus.OK, "", "user", "grant", "ann", "admin", "more");
        await(ExitStatus.OK, "table", "create", "mine", "--records", "10", "--user", "ann", "--secret-file", file);
        expect(ExitStatus.UNAVAILABLE, "user ann has a quota of 1 tables",
            "table", "create", "more", "--records", "10", "--user", "ann", "--secret-file", file);
        expect(ExitStatus.OK, "", "table", "drop", "mine", "--user", "ann", "--secret-file", file);
        expect(ExitStatus.OK, "", "user", "grant", "ann", "none", "mine");
        expect(ExitStatus.OK, "", "user", "grant", "ann", "none", "more");
    }
}
