package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** {@code --encrypt} of a cluster on a fabric that other hosts reach: packets between processes are sealed. */
@Timeout(300)
class SealedNetworkSystemTest
{
    private static final String SECRET = "a secret of ann";

    @TempDir
    private Path directory;

    @AfterEach
    void leaveNothingBehind()
    {
        inFolder("down", "--discard");
    }

    /** One that other hosts reach, where there is one: nothing allows an insecure network. */
    private static String address() throws IOException
    {
        return NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
            .filter((each) -> each instanceof Inet6Address && !each.isLoopbackAddress() && !each.isLinkLocalAddress())
            .findFirst().map((each) -> each.getHostAddress().replaceFirst("%.*", "")).orElse("::1");
    }

    /** Of a process, in its log: each writes addresses of IPv6 in a way of its own. */
    private static void assertNetwork(final String log, final String host, final String options)
    {
        final Matcher network = Pattern.compile(" on soft:network=([^, ]+)(\\S*) ").matcher(log);
        assertThat(network.find()).as(log).isTrue();
        assertThat(InetAddress.ofLiteral(network.group(1))).isEqualTo(InetAddress.ofLiteral(host));
        assertThat(network.group(2)).isEqualTo(options);
    }

    private ClusterFolder folder()
    {
        return ClusterFolder.of(directory.resolve("cluster"));
    }

    private CommandLines.Result inFolder(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", folder().path().toString()));
        return CommandLines.run(all);
    }

    private CommandLines.Result elsewhere(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--cluster", folder().address()));
        return CommandLines.run(all);
    }

    private static void expect(final int status, final String text, final CommandLines.Result result)
    {
        assertThat(result.status()).as(result.out() + result.err()).isEqualTo(status);
        assertThat(ExitStatus.OK == status ? result.out() : result.err()).contains(text);
        assertThat(result.err()).hasLineCount(ExitStatus.OK == status ? 0 : 1);
    }

    private String ownerOnly(final String name, final String text) throws IOException
    {
        final Path file = Files.createFile(directory.resolve(name),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.writeString(file, text).toString();
    }

    private String log(final String name) throws IOException
    {
        return Files.readString(folder().logs().resolve(name + ".log"));
    }

    @Test
    void shouldSealPacketsOfWhoHasTheTokenAndEncryptRequestsOfUsers() throws IOException
    {
        final String host = address();
        final String network = "roce:" + host;
        expect(ExitStatus.OK, "up: ", inFolder("up", "--tls", "--encrypt", "--fabric", "roce", "--listen",
            "verbena://[" + host + "]:0", "--memory", "32"));
        final String token = folder().token().toString();
        // Nobody without the token has to do with its memory.
        assertNetwork(log("memory-1"), host, ",encrypt=" + token);
        assertThat(log("memory-1")).doesNotContain("clear=accepted");
        assertNetwork(log("compute-1"), host, ",encrypt=" + token + ",clear=accepted");
        expect(ExitStatus.OK, "", inFolder("put", "hello", "world"));

        // The address of a network alone: not shared memory, although this is the same host.
        expect(ExitStatus.OK, "world",
            elsewhere("get", "hello", "--token-file", token, "--fabric", network));
        expect(ExitStatus.OK, "default",
            elsewhere("table", "check", "default", "--encrypt", "--token-file", token, "--fabric", network));
        final String other = ownerOnly("other", "00".repeat(32));
        expect(ExitStatus.UNAVAILABLE, "the key of that end is another one",
            elsewhere("get", "hello", "--token-file", token, "--fabric", network + ",encrypt=" + other));

        final String secret = ownerOnly("secret", SECRET);
        expect(ExitStatus.OK, "", inFolder("user", "add", "ann", "--new-secret-file", secret, "--grant",
            "read:default"));
        final String authority = folder().path().resolve("tls/ca.crt").toString();
        expect(ExitStatus.OK, "world", elsewhere("get", "hello", "--user", "ann", "--secret-file", secret,
            "--tls-ca", authority, "--fabric", network));
        expect(ExitStatus.NO_PERMISSION, "user ann has no right to PUT",
            elsewhere("put", "hello", "ann", "--user", "ann", "--secret-file", secret, "--tls-ca", authority,
            "--fabric", network));
        assertThat(inFolder("status", "--json").out()).contains("\"refused_in_clear\":0")
            .containsPattern("\"refused_unsealed_connections\":[1-9]").contains(
                "\"last_refused_unsealed_connection\":\"");
        assertThat(Files.readString(folder().path().resolve("audit.jsonl"))).as("of the meta server, asked first")
            .containsPattern("\"denied\",\"by\":\"peer that proved nothing\",\"subject\":\"\\d+ connections without " +
                "the key of sealed packets");
    }
}
