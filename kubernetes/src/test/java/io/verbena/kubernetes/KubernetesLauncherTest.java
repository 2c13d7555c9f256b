package io.verbena.kubernetes;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.autoscaling.v1.Scale;
import io.fabric8.kubernetes.api.model.autoscaling.v1.ScaleBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.http.RecordedRequest;
import io.verbena.cli.autoscale.launch.LauncherProvider;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Against a server that answers as that of Kubernetes does. */
@Timeout(60)
@EnableKubernetesMockClient
class KubernetesLauncherTest
{
    private static final String DEPLOYMENT = "/apis/apps/v1/namespaces/prod/deployments/verbena-compute/scale";
    private static final String STATEFUL_SET = "/apis/apps/v1/namespaces/prod/statefulsets/compute/scale";

    private KubernetesMockServer server;
    private KubernetesClient client;

    private static Scale scale(final int replicas, final String version)
    {
        return new ScaleBuilder().withNewMetadata().withName("x").withNamespace("prod").withResourceVersion(version)
            .endMetadata().withNewSpec().withReplicas(replicas).endSpec().build();
    }

    private KubernetesLauncher deployment()
    {
        return KubernetesProvider.open(
            Map.of("namespace", "prod", "workload", "deployment/verbena-compute"), client);
    }

    private static CommandFailedException failure(final Runnable action)
    {
        return catchThrowableOfType(CommandFailedException.class, action::run);
    }

    private String lastBody() throws InterruptedException
    {
        return server.getLastRequest().getBody().readUtf8();
    }

    @Test
    void shouldRaiseTheScaleOfADeployment() throws InterruptedException
    {
        server.expect().get().withPath(DEPLOYMENT).andReturn(200, scale(2, "7")).once();
        server.expect().put().withPath(DEPLOYMENT).andReturn(200, scale(5, "8")).once();
        deployment().start(3, List.of("verbena-compute-a"));
        assertThat(lastBody()).contains("\"replicas\":5", "\"resourceVersion\":\"7\"");
    }

    @Test
    void shouldLowerTheScaleOfAStatefulSetAndMarkNoPods() throws InterruptedException
    {
        server.expect().get().withPath(STATEFUL_SET).andReturn(200, scale(4, "7")).once();
        server.expect().put().withPath(STATEFUL_SET).andReturn(200, scale(2, "8")).once();
        KubernetesProvider.open(Map.of("namespace", "prod", "workload", "statefulset/compute"), client)
            .end(List.of("compute-3", "compute-2"));
        assertThat(lastBody()).contains("\"replicas\":2");
        assertThat(server.getRequestCount()).isEqualTo(2);
    }

    @Test
    void shouldMarkThePodsOfADeploymentThatAreToEnd() throws InterruptedException
    {
        final Pod pod = new PodBuilder().withNewMetadata().withName("verbena-compute-b").endMetadata().build();
        final String path = "/api/v1/namespaces/prod/pods/verbena-compute-b";
        server.expect().get().withPath(path).andReturn(200, pod).once();
        server.expect().patch().withPath(path).andReturn(200, pod).once();
        server.expect().get().withPath(DEPLOYMENT).andReturn(200, scale(2, "7")).once();
        server.expect().put().withPath(DEPLOYMENT).andReturn(200, scale(1, "8")).once();
        deployment().end(List.of("verbena-compute-b"));
        assertThat(server.takeRequest().getMethod()).isEqualTo("GET");
        final RecordedRequest mark = server.takeRequest();
        assertThat(mark.getMethod()).isEqualTo("PATCH");
        assertThat(mark.getBody().readUtf8()).contains("\"controller.kubernetes.io/pod-deletion-cost\":\"-1000\"");
        assertThat(server.takeRequest().getMethod()).isEqualTo("GET");
        assertThat(server.takeRequest().getBody().readUtf8()).contains("\"replicas\":1");
    }

    @Test
    void shouldLowerTheScaleAlsoWhenAPodCannotBeMarked() throws InterruptedException
    {
        server.expect().get().withPath(DEPLOYMENT).andReturn(200, scale(2, "7")).once();
        server.expect().put().withPath(DEPLOYMENT).andReturn(200, scale(1, "8")).once();
        deployment().end(List.of("verbena-compute-gone")); // the server answers 404 to what it does not expect
        assertThat(lastBody()).contains("\"replicas\":1");
    }

    @Test
    void shouldMakeItsChangeOfWhatAnotherHasWrittenMeanwhile() throws InterruptedException
    {
        server.expect().get().withPath(DEPLOYMENT).andReturn(200, scale(2, "7")).once();
        server.expect().put().withPath(DEPLOYMENT).andReturn(409, "{}").once();
        server.expect().get().withPath(DEPLOYMENT).andReturn(200, scale(6, "8")).once();
        server.expect().put().withPath(DEPLOYMENT).andReturn(200, scale(7, "9")).once();
        deployment().start(1, List.of());
        assertThat(lastBody()).contains("\"replicas\":7", "\"resourceVersion\":\"8\"");
    }

    @Test
    void shouldCountPodsThatAreStillToComeAndGiveThemUp() throws InterruptedException
    {
        server.expect().get().withPath(DEPLOYMENT).andReturn(200, scale(5, "7")).always();
        server.expect().put().withPath(DEPLOYMENT).andReturn(200, scale(2, "8")).once();
        final KubernetesLauncher launcher = deployment();
        assertThat(launcher.coming(List.of("verbena-compute-a", "verbena-compute-b"))).isEqualTo(3);
        assertThat(launcher.coming(List.of("a", "b", "c", "d", "e", "f"))).as("also others' nodes").isZero();
        launcher.giveUp(List.of("verbena-compute-a", "verbena-compute-b"));
        assertThat(lastBody()).contains("\"replicas\":2");
        assertThat(launcher.owns("verbena-compute-6f9c-x2x")).isTrue();
        assertThat(launcher.owns("verbena-computer")).isFalse();
        assertThat(launcher.owns("")).isFalse();
        assertThat(launcher.restarts()).isTrue();
    }

    @Test
    void shouldSayInOneLineWhatToDo()
    {
        final CommandFailedException absent = failure(() -> deployment().start(1, List.of()));
        assertThat(absent.exitStatus()).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(absent.getMessage()).startsWith("deployment prod/verbena-compute ").doesNotContain("\n");
        server.expect().get().withPath(DEPLOYMENT).andReturn(403, "{}").always();
        assertThat(failure(() -> deployment().coming(List.of())).getMessage())
            .contains("give the service account the role of deploy/kubernetes/autoscaler.yaml").doesNotContain("\n");
    }

    @Test
    void shouldGiveUpWhereOthersKeepWriting()
    {
        server.expect().get().withPath(DEPLOYMENT).andReturn(200, scale(2, "7")).always();
        server.expect().put().withPath(DEPLOYMENT).andReturn(409, "{}").always();
        assertThat(failure(() -> deployment().start(1, List.of())).getMessage())
            .startsWith("deployment prod/verbena-compute cannot be scaled: ").doesNotContain("\n");
        assertThat(server.getRequestCount()).isEqualTo(10);
    }

    @Test
    void shouldNotWaitForAServerThatDoesNotAnswer()
    {
        server.expect().get().delay(3_000).withPath(DEPLOYMENT).andReturn(200, scale(2, "7")).always();
        try (KubernetesClient impatient = new KubernetesClientBuilder().withConfig(KubernetesProvider.patient(
            new ConfigBuilder(client.getConfiguration()).build(), 200)).build())
        {
            final KubernetesLauncher launcher = KubernetesProvider.open(Map.of("namespace", "prod"), impatient);
            final CommandFailedException late = failure(() -> launcher.start(1, List.of()));
            assertThat(late.exitStatus()).isEqualTo(ExitStatus.UNAVAILABLE);
            assertThat(late.getMessage())
                .startsWith("deployment prod/verbena-compute cannot be scaled: ").doesNotContain("\n");
        }
    }

    @Test
    void shouldNeverAskForLessThanNone() throws InterruptedException
    {
        server.expect().get().withPath(STATEFUL_SET).andReturn(200, scale(1, "7")).once();
        server.expect().put().withPath(STATEFUL_SET).andReturn(200, scale(0, "8")).once();
        KubernetesProvider.open(Map.of("namespace", "prod", "workload", "statefulset/compute"), client)
            .end(List.of("compute-3", "compute-2"));
        assertThat(lastBody()).contains("\"replicas\":0");
    }

    @Test
    void shouldRefuseOptionsThatCannotBeMeant()
    {
        for (final Map<String, String> options : List.of(
            Map.of("workload", "verbena"), Map.of("workload", "daemonset/x"), Map.of("workload", "deployment/"),
            Map.of("workload", "deployment/A B"), Map.of("namespace", "No")))
        {
            final CommandFailedException failure = failure(() -> KubernetesProvider.open(options, client));
            assertThat(failure.exitStatus()).as("%s", options).isEqualTo(ExitStatus.USAGE);
            assertThat(failure.getMessage()).startsWith("--").doesNotContain("\n");
        }
    }

    @Test
    void shouldBeFoundByTheCommand()
    {
        assertThat(ServiceLoader.load(LauncherProvider.class)).extracting(LauncherProvider::kind)
            .containsExactly("kubernetes");
    }
}
