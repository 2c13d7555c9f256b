package io.verbena.kubernetes;

import io.fabric8.kubernetes.api.model.autoscaling.v1.Scale;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Scalable;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.verbena.cli.autoscale.launch.Launcher;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import java.net.HttpURLConnection;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Pods of a workload, whose number is its scale subresource: that is all that is written of the workload. Kubernetes
 * chooses which pods end; those of a Deployment are marked first. Used by one thread at a time.
 */
final class KubernetesLauncher implements Launcher
{
    /** A write that met another one is repeated so often. */
    private static final int MOST_TRIES = 5;
    /** Pods with the lowest cost end first; those without one cost nothing. */
    private static final String COST =
        "{\"metadata\":{\"annotations\":{\"controller.kubernetes.io/pod-deletion-cost\":\"-1000\"}}}";

    private final KubernetesClient client;
    private final String namespace;
    private final boolean isDeployment;
    private final String name;

    KubernetesLauncher(
        final KubernetesClient client, final String namespace, final boolean isDeployment, final String name)
    {
        this.client = client;
        this.namespace = namespace;
        this.isDeployment = isDeployment;
        this.name = name;
    }

    private Scalable<?> workload()
    {
        return isDeployment ? client.apps().deployments().inNamespace(namespace).withName(name) :
            client.apps().statefulSets().inNamespace(namespace).withName(name);
    }

    private Scale scale()
    {
        try
        {
            final Scale scale = workload().scale();
            if (null == scale || null == scale.getSpec())
            {
                throw failed("is not there: apply deploy/kubernetes, or name another one with --workload", null);
            }
            return scale;
        }
        catch (final KubernetesClientException ex)
        {
            throw failed(ex);
        }
    }

    private static int replicas(final Scale scale)
    {
        return null == scale.getSpec().getReplicas() ? 0 : scale.getSpec().getReplicas();
    }

    /** What somebody else has written meanwhile is not overwritten: the change is made of that. */
    private void change(final IntUnaryOperator change)
    {
        for (int tries = 1;; tries++)
        {
            final Scale scale = scale();
            scale.getSpec().setReplicas(Math.max(0, change.applyAsInt(replicas(scale))));
            try
            {
                workload().scale(scale);
                return;
            }
            catch (final KubernetesClientException ex)
            {
                if (HttpURLConnection.HTTP_CONFLICT != ex.getCode() || tries >= MOST_TRIES)
                {
                    throw failed(ex);
                }
            }
        }
    }

    @Override
    public void start(final int count, final List<String> present)
    {
        change((replicas) -> replicas + count);
    }

    @Override
    public void end(final List<String> names)
    {
        if (isDeployment)
        {
            names.forEach(this::mark);
        }
        change((replicas) -> replicas - names.size());
    }

    /** Where that is forbidden, or the pod has gone, another pod may end, which costs no operation either. */
    private void mark(final String pod)
    {
        try
        {
            client.pods().inNamespace(namespace).withName(pod).patch(
                PatchContext.of(PatchType.STRATEGIC_MERGE), COST);
        }
        catch (final KubernetesClientException ex)
        {
            if (0 == ex.getCode())
            {
                throw failed(ex);
            }
        }
    }

    @Override
    public int coming(final List<String> present)
    {
        return Math.max(0, replicas(scale()) - present.size());
    }

    @Override
    public void giveUp(final List<String> present)
    {
        change((replicas) -> Math.min(replicas, present.size()));
    }

    @Override
    public boolean owns(final String pod)
    {
        return pod.startsWith(name + '-');
    }

    @Override
    public boolean restarts()
    {
        return true;
    }

    private CommandFailedException failed(final KubernetesClientException ex)
    {
        final boolean isForbidden = HttpURLConnection.HTTP_FORBIDDEN == ex.getCode() ||
            HttpURLConnection.HTTP_UNAUTHORIZED == ex.getCode();
        final String why = null == ex.getMessage() ? ex.toString() : ex.getMessage().lines().findFirst().orElse("");
        return failed(isForbidden ? "may not be scaled: give the service account the role of " +
            "deploy/kubernetes/autoscaler.yaml: " + why : "cannot be scaled: " + why, ex);
    }

    private CommandFailedException failed(final String what, final Exception ex)
    {
        return new CommandFailedException(ExitStatus.UNAVAILABLE, (isDeployment ? "deployment " : "statefulset ") +
            namespace + '/' + name + ' ' + what, ex);
    }
}
