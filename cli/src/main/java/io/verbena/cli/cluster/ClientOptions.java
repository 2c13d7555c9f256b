package io.verbena.cli.cluster;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.role.TlsOptions;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvException;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** How a command reaches the cluster. */
public final class ClientOptions
{
    /** A client and how it was reached. */
    private record Target(
        String address, Path tokenFile, String user, Path secretFile, String fabric, String tls, boolean isEncrypted,
        int timeoutMs)
    {
    }

    private static final String NO_NODE = "there is no compute node";

    /** What a command does with a client. */
    public interface Work
    {
        int run(KvClient client);
    }

    @Option(names = "--cluster", paramLabel = "ADDRESS",
        description = "Address of the cluster, verbena://host:port. Default: the one that is up in the folder.")
    private String cluster;

    @Option(names = "--token-file", paramLabel = "FILE",
        description = "File with the cluster's token. Default: the one in the folder.")
    private Path tokenFile;

    @Option(names = "--user", paramLabel = "NAME",
        description = "User as whom to connect, in the place of the token.")
    private String user;

    @Option(names = "--secret-file", paramLabel = "FILE",
        description = "File of mode 0600, whose first line is the secret of --user.")
    private Path secretFile;

    @Option(names = "--data", paramLabel = "DIR", description = "Folder of the cluster. Default: ~/.verbena/cluster.")
    private Path data;

    @Option(names = "--fabric", paramLabel = "NAME",
        description = "Fabric of this command, such as roce:10.0.0.7 where this host has several networks. Default: " +
            "that of the cluster.")
    private String fabric;

    @Option(names = "--encrypt", description = "Encrypt requests to compute nodes; as a --user over TLS only. " +
        "Default: as the folder's cluster was made.")
    private boolean encrypt;

    @Option(names = "--timeout-ms", paramLabel = "MS", defaultValue = "5000",
        description = "Deadline of each operation. Default: ${DEFAULT-VALUE}.")
    private int timeoutMs;

    @Mixin
    private final TlsOptions tls = new TlsOptions();

    private final SharedClient shared;

    /** Options of a command that has a client of its own. */
    public ClientOptions()
    {
        this(null);
    }

    /** Options of a command that runs after others, and before others, with one client. */
    public ClientOptions(final SharedClient shared)
    {
        this.shared = shared;
    }

    /** @return these options as settings of further commands, by names of environment variables. */
    public Map<String, String> settings()
    {
        checkTimeout();
        final Map<String, String> settings = new HashMap<>();
        settings.put("VERBENA_CLUSTER", cluster);
        settings.put("VERBENA_TOKEN_FILE", null == tokenFile ? null : tokenFile.toString());
        settings.put("VERBENA_USER", user);
        settings.put("VERBENA_SECRET_FILE", null == secretFile ? null : secretFile.toString());
        settings.put("VERBENA_DATA", null == data ? null : data.toString());
        settings.put("VERBENA_FABRIC", fabric);
        settings.put(KvClientOptions.ENCRYPT_VARIABLE, encrypt ? "true" : null);
        settings.put("VERBENA_TIMEOUT_MS", Integer.toString(timeoutMs));
        tls.settings(settings);
        settings.values().removeIf(Objects::isNull);
        return settings;
    }

    /** @return deadline of each operation. */
    public long timeoutNs()
    {
        return TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    }

    /** Connects, works, and turns what the store throws into one line and a status. */
    public int with(final Work work)
    {
        checkTimeout();
        try
        {
            if (null != shared)
            {
                return shared.run(new Target(address(), null == tokenFile ? folder().token() : tokenFile, user,
                    secretFile, fabric, tls.toString(), isEncrypted(), timeoutMs),
                    () -> connect(new KvClientOptions()), work);
            }
            try (KvClient client = connect(new KvClientOptions()))
            {
                return work.run(client);
            }
        }
        catch (final KvException ex)
        {
            throw new CommandFailedException(status(ex.category()), text(ex), ex);
        }
    }

    /** The store's message, with options of the command line in place of names of the interface. */
    public static String text(final KvException ex)
    {
        return ex.getMessage().replace("expectedRecords=", "--records ").replace("expectedRecords", "--records")
            .replace(NO_NODE, NO_NODE + ": './verbena scale --compute-nodes 1' starts one");
    }

    private void checkTimeout()
    {
        if (timeoutMs < 1)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, "--timeout-ms " + timeoutMs + ": must be 1 or more", null);
        }
    }

    /** Connects with these options, as far as the command line does not say otherwise. */
    public KvClient connect(final KvClientOptions options)
    {
        return connect(options, timeoutNs());
    }

    /** Connects likewise, with another deadline. */
    public KvClient connect(final KvClientOptions options, final long timeoutNs)
    {
        if (null == user && null != secretFile)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--secret-file without --user: whose is it?", null);
        }
        if (null != user && null == secretFile)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, "--user " + user + " without --secret-file: give the file with the secret", null);
        }
        return KvClient.connect(address(), tls.secure(options).timeout(Duration.ofNanos(timeoutNs)).fabric(fabric)
            .retryConnect(asksAgain()).encrypt(isEncrypted()).user(user, secretFile)
            .tokenFile(null == tokenFile ? folder().token() : tokenFile));
    }

    /** Whether it is reached as a user, who may not ask the meta server. */
    public boolean isUser()
    {
        return null != user;
    }

    /** Where the cluster is found. */
    public String address()
    {
        return null == cluster ? folder().address() : cluster;
    }

    /** Folder of the cluster, there or not. */
    public ClusterFolder folder()
    {
        return ClusterFolder.of(data);
    }

    /** Whether the command line names a cluster, so that the folder may be another one's. */
    public boolean namesCluster()
    {
        return null != cluster;
    }

    /** The single meta server of a folder is down when nobody listens: no election is to be waited for. */
    private boolean asksAgain()
    {
        return null != cluster || null != folder().peers();
    }

    private boolean isEncrypted()
    {
        return encrypt || null == cluster && folder().isEncrypted();
    }

    /** Opens the cluster's memory, whether it is up or not. */
    public OpenedStore openStore()
    {
        checkTimeout();
        return OpenedStore.open(cluster, tokenFile, tls, folder(), fabric, encrypt, timeoutNs());
    }

    /** Connects to the meta server alone. */
    public MetaCalls openMeta()
    {
        checkTimeout();
        if (null != user)
        {
            throw new CommandFailedException(
                ExitStatus.NO_PERMISSION, "--user " + user + ": this takes the cluster's token, not a user", null);
        }
        return MetaCalls.open(address(),
            null == tokenFile ? folder().token() : tokenFile, tls, fabric, isEncrypted(), asksAgain(), timeoutNs());
    }

    /** Exit status for a failure of the store. */
    public static int status(final KvException.Category category)
    {
        return switch (category)
        {
            case INVALID_REQUEST -> ExitStatus.USAGE;
            case NOT_APPLIED, UNAVAILABLE, CLOSED, QUOTA_EXCEEDED -> ExitStatus.UNAVAILABLE;
            case OUTCOME_UNKNOWN -> ExitStatus.UNKNOWN;
            case NO_SPACE -> ExitStatus.CANNOT_CREATE;
            case CORRUPT -> ExitStatus.FAILED;
            case PERMISSION_DENIED -> ExitStatus.NO_PERMISSION;
        };
    }
}
