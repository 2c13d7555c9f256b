package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.cli.console.OptionRange;
import io.verbena.rdma.connection.SecretLine;
import io.verbena.resp.RespConfiguration;
import io.verbena.resp.codec.RespDecoder;

import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** How compute nodes serve Redis' protocol. */
public final class RespOptions
{
    /** Holds the password where no file does. */
    private static final String PASSWORD_VARIABLE = "VERBENA_RESP_PASSWORD";
    private static final int MAX_PORT = 65_535;
    /** A client can send no longer one. */
    private static final int MAX_PASSWORD_BYTES = RespDecoder.UNAUTHENTICATED_BYTES;

    @Option(names = "--resp-port", paramLabel = "PORT",
        description = "Port at which Redis' protocol is served, 1 to 65535, often 6379. Default: none. Of several " +
            "compute nodes that 'up' starts, compute-2 serves at the port behind it, and so on.")
    private Integer port;

    @Option(names = "--resp-listen", paramLabel = "ADDRESS", defaultValue = "127.0.0.1",
        description = "Address of that port. One that other hosts reach needs a password, or --resp-open. " +
            "Default: ${DEFAULT-VALUE}.")
    private String listen = "127.0.0.1";

    @Option(names = "--resp-table", paramLabel = "NAME", defaultValue = "default",
        description = "Table that is database 0 there. Default: ${DEFAULT-VALUE}.")
    private String table = "default";

    @Option(names = "--resp-password-file", paramLabel = "FILE",
        description = "File whose first line is the password that clients must AUTH with. Default: the environment's " +
            PASSWORD_VARIABLE + ", or none.")
    private Path passwordFile;

    @Option(names = "--resp-open", description = "Serve other hosts without a password: everybody there reads and " +
        "changes all tables.")
    private boolean isOpen;

    @Option(names = "--resp-cluster", description = "Serve cluster clients: CLUSTER lists the compute nodes that " +
        "have this option; each of them serves all keys.")
    private boolean isCluster;

    @Option(names = "--resp-announce", paramLabel = "ADDRESS",
        description = "Address that cluster clients use for this node. Default: that of --resp-listen.")
    private String announced;

    @Option(names = "--resp-tls-certificate", paramLabel = "FILE",
        description = "Serve TLS there, and nothing else: chain of certificates, PEM. With --resp-tls-key.")
    private Path tlsCertificate;

    @Option(names = "--resp-tls-key", paramLabel = "FILE",
        description = "Private key of the certificate: PEM, PKCS#8, without a password.")
    private Path tlsKey;

    @Option(names = "--resp-tls-ca", paramLabel = "FILE",
        description = "Authorities, PEM: each client must have a certificate of one of them. Default: none is needed.")
    private Path tlsAuthorities;

    @Option(names = "--resp-max-clients", paramLabel = "N", defaultValue = "1024",
        description = "Most connections there at once, 1 to 65536. Default: ${DEFAULT-VALUE}.")
    private int maxClients = 1024;

    /**
     * Checks the options.
     *
     * @param environment of the process.
     * @return how to serve; null when not at all.
     */
    public RespConfiguration configuration(final Map<String, String> environment)
    {
        if (null == port)
        {
            return null;
        }
        OptionRange.check("--resp-port", port, 1, MAX_PORT);
        if (null != announced && !isCluster)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--resp-announce " + announced + ": only a node with " +
                "--resp-cluster is announced; add that option, or leave this one out", null);
        }
        if (null == tlsCertificate != (null == tlsKey) || null == tlsCertificate && null != tlsAuthorities)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "TLS needs both --resp-tls-certificate and " +
                "--resp-tls-key; --resp-tls-ca is for use with them", null);
        }
        OptionRange.check("--resp-max-clients", maxClients, 1, RespConfiguration.MOST_CLIENTS);
        return new RespConfiguration().host(listen).port(port).table(table).openToAll(isOpen).maxClients(maxClients)
            .cluster(isCluster).announcedHost(announced).password(password(environment))
            .tls(tlsCertificate, tlsKey, tlsAuthorities);
    }

    private byte[] password(final Map<String, String> environment)
    {
        final String variable = environment.get(PASSWORD_VARIABLE);
        byte[] password = null == variable ? null : variable.getBytes(StandardCharsets.UTF_8);
        if (null != passwordFile)
        {
            try (SecretLine line = SecretLine.read(passwordFile, MAX_PASSWORD_BYTES + 1))
            {
                password = line.bytes();
            }
            catch (final IOException ex)
            {
                throw new CommandFailedException(ExitStatus.USAGE, "--resp-password-file " + passwordFile + ": " +
                    FileErrors.reason(ex), ex);
            }
        }
        if (null != password && 0 == password.length)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "the password for Redis' protocol is empty: write one " +
                "into the file of --resp-password-file, or leave both out", null);
        }
        if (null != password && password.length > MAX_PASSWORD_BYTES)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "the password for Redis' protocol has more than " +
                MAX_PASSWORD_BYTES + " bytes, which no client can send: give a shorter one", null);
        }
        return password;
    }

    /**
     * @param number of the compute node of the cluster, 1 or more.
     * @return the options for it; none where the protocol is not served.
     */
    public List<String> forNode(final int number)
    {
        if (null == port)
        {
            return List.of();
        }
        final List<String> options = new ArrayList<>(List.of(
            "--resp-port", String.valueOf(port + number - 1), "--resp-listen", listen, "--resp-table", table,
            "--resp-max-clients", String.valueOf(maxClients)));
        addFile(options, "--resp-password-file", passwordFile);
        addFile(options, "--resp-tls-certificate", tlsCertificate);
        addFile(options, "--resp-tls-key", tlsKey);
        addFile(options, "--resp-tls-ca", tlsAuthorities);
        if (isOpen)
        {
            options.add("--resp-open");
        }
        if (isCluster)
        {
            options.add("--resp-cluster");
        }
        if (null != announced)
        {
            options.addAll(List.of("--resp-announce", announced));
        }
        return options;
    }

    /** Absolute, since the node runs in another folder. */
    private static void addFile(final List<String> options, final String option, final Path file)
    {
        if (null != file)
        {
            options.addAll(List.of(option, file.toAbsolutePath().toString()));
        }
    }
}
