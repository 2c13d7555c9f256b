package io.verbena.kubernetes;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.verbena.cli.autoscale.launch.Launcher;
import io.verbena.cli.autoscale.launch.LauncherProvider;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import java.util.Map;

/** {@code --launcher kubernetes}. */
public final class KubernetesProvider implements LauncherProvider
{
    private static final int TIMEOUT_MS = 10_000;
    private static final String NAME = "[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?";

    @Override
    public String kind()
    {
        return "kubernetes";
    }

    /** By the service account of the pod, or by the configuration of {@code kubectl}. */
    @Override
    public Launcher open(final Map<String, String> options)
    {
        return open(options, new KubernetesClientBuilder()
            .withConfig(patient(Config.autoConfigure(null), TIMEOUT_MS)).build());
    }

    /** The autoscaler tries again by itself, with growing distance: a request that fails is sent twice at most. */
    static Config patient(final Config config, final int timeoutMs)
    {
        config.setRequestTimeout(timeoutMs);
        config.setConnectionTimeout(timeoutMs);
        config.setRequestRetryBackoffLimit(1);
        return config;
    }

    static KubernetesLauncher open(final Map<String, String> options, final KubernetesClient client)
    {
        final String workload = options.getOrDefault("workload", "deployment/verbena-compute");
        final String namespace = options.getOrDefault("namespace",
            null == client.getNamespace() ? "default" : client.getNamespace());
        final int slash = workload.indexOf('/');
        final String kind = slash < 0 ? "" : workload.substring(0, slash);
        final String name = workload.substring(slash + 1);
        if (!"deployment".equals(kind) && !"statefulset".equals(kind) || !name.matches(NAME))
        {
            throw usage("--workload " + workload + ": must be deployment/NAME or statefulset/NAME");
        }
        if (!namespace.matches(NAME))
        {
            throw usage("--namespace " + namespace + ": must be the name of a namespace");
        }
        return new KubernetesLauncher(client, namespace, "deployment".equals(kind), name);
    }

    private static CommandFailedException usage(final String message)
    {
        return new CommandFailedException(ExitStatus.USAGE, message, null);
    }
}
