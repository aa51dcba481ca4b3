# SPDX-License-Identifier: Apache-2.0
"""Whether a manifest for Kubernetes fits together, as far as its text tells.

Run as ``check_manifest.py MANIFEST TROUPE``: prints a line for each fault, and ends with 1 where
there is one. Run as ``check_manifest.py MANIFEST``: prints two lines for each pod, which are its
host's name with the command that prepares it, and its host's name with its command.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

VERSIONS = {"Service": "v1", "StatefulSet": "apps/v1", "Job": "batch/v1"}
HOST = r'"name": "([a-z]+-0)", "address": "([^"]*)", "port": (\d+)'
faults: list[str] = []


def expect(holds: object, what: str) -> None:
    """Note a fault where something does not hold."""
    if not holds:
        faults.append(what)


def selects(selector: dict[str, str], labels: dict[str, str]) -> bool:
    """Whether a selector picks what has these labels."""
    return bool(selector) and selector.items() <= labels.items()


def labels_of(document: dict[str, Any]) -> dict[str, str]:
    """Return the labels of a document's pods."""
    labels: dict[str, str] = document["spec"]["template"]["metadata"]["labels"]
    return labels


def ports_of(service: dict[str, Any]) -> set[int]:
    """Return the ports of a service."""
    return {port["port"] for port in service["spec"]["ports"]}


def check_command(name: str, container: dict[str, Any], ports: set[int], troupe: str) -> None:
    """Check that a command has options that there are, and ports and files that it was given."""
    words = container["command"]
    shown = subprocess.run(
        [troupe, words[1], "--help"], capture_output=True, text=True, check=True
    ).stdout
    for word in words:
        if word.startswith("--"):
            expect(
                re.search(rf"^ +{word}\b", shown, re.MULTILINE),
                f"{name}: troupe {words[1]} has no option {word}",
            )
    metrics = int(words[words.index("--metrics") + 1].rsplit(":", 1)[1])
    expect(metrics in ports, f"{name}: metrics at {metrics}, which is no port of the container")
    folders = [mount["mountPath"] for mount in container["volumeMounts"]]
    for word in words:
        if word.startswith("/"):
            expect(
                any(Path(folder) in Path(word).parents for folder in folders),
                f"{name}: nothing is mounted for {word}",
            )


def check_mounts(name: str, pod: dict[str, Any]) -> None:
    """Check that what a pod's containers mount are its volumes, each of which is mounted."""
    volumes = {volume["name"] for volume in pod["volumes"]}
    containers = pod["containers"] + pod.get("initContainers", [])
    mounted = {mount["name"] for container in containers for mount in container["volumeMounts"]}
    expect(
        volumes == mounted, f"{name}: volumes {sorted(volumes)}, but mounted are {sorted(mounted)}"
    )


def check_keys(name: str, pod: dict[str, Any]) -> None:
    """Check that the key is read from a file that its group may not read.

    Kubernetes lets the group of ``fsGroup`` read the files of a secret, whatever their mode.
    """
    secrets = {volume["name"] for volume in pod["volumes"] if "secret" in volume}
    for container in pod["containers"]:
        for mount in container["volumeMounts"]:
            expect(
                mount["name"] not in secrets,
                f"{name}: reads the secret {mount['name']} itself, as its group may (fsGroup)",
            )


def check_pods(document: dict[str, Any], service: dict[str, Any], troupe: str) -> None:
    """Check the pods of one document, and what finds them."""
    name, spec = document["metadata"]["name"], document["spec"]
    labels, pod = labels_of(document), spec["template"]["spec"]
    expect(
        selects(service["spec"]["selector"], labels),
        f"{name}: the service does not select its pods",
    )
    at = spec["serviceName"] if document["kind"] == "StatefulSet" else pod["subdomain"]
    expect(
        at == service["metadata"]["name"],
        f"{name}: its pods have no DNS names, since {at} is no service",
    )
    if document["kind"] == "Job":
        expect(spec["completionMode"] == "Indexed", f"{name}: its pods have no numbers")
        expect(spec["completions"] == spec["parallelism"], f"{name}: its pods do not run at once")
        expect(
            pod["restartPolicy"] in ("OnFailure", "Never"),
            f"{name}: a Job may not restart {pod['restartPolicy']}",
        )
    else:
        expect(
            selects(spec["selector"]["matchLabels"], labels),
            f"{name}: does not select its own pods",
        )
        expect("restartPolicy" not in pod, f"{name}: a StatefulSet always restarts")
    [container] = pod["containers"]
    ports = {port["containerPort"] for port in container["ports"]}
    expect(ports == ports_of(service), f"{name}: has ports other than the service's")
    scraped = spec["template"]["metadata"].get("annotations", {}).get("prometheus.io/port")
    is_port = isinstance(scraped, str) and int(scraped) in ports
    expect(scraped is None or is_port, f"{name}: is scraped at {scraped!r}")
    check_command(name, container, ports, troupe)
    check_mounts(name, pod)
    check_keys(name, pod)


def check_hosts(documents: list[dict[str, Any]], text: str, service: dict[str, Any]) -> None:
    """Check that the hosts of the cluster file, in the comment on top, are pods."""
    ports, kinds = ports_of(service), {document["metadata"]["name"] for document in documents}
    domain = service["metadata"]["name"]
    for host, address, port in re.findall(HOST, text):
        expect(address == f"{host}.{domain}", f"{host}: {address} is not the DNS name of a pod")
        expect(int(port) in ports, f"{host}: {port} is no port of the service")
        expect(host[:-2] in kinds, f"{host}: is no pod")


def check_manifest(path: str, troupe: str) -> None:
    """Check a manifest."""
    text = Path(path).read_text(encoding="utf-8")
    documents: list[dict[str, Any]] = list(yaml.safe_load_all(text))
    for document in documents:
        kind, name = document["kind"], document["metadata"]["name"]
        expect(
            VERSIONS.get(kind) == document["apiVersion"],
            f"{name}: {kind} is not of {document['apiVersion']}",
        )
    [service] = [document for document in documents if document["kind"] == "Service"]
    expect(service["spec"]["clusterIP"] == "None", "the service is not headless")
    runs = [document for document in documents if document is not service]
    for document in runs:
        check_pods(document, service, troupe)
    sets = [document for document in runs if "selector" in document["spec"]]
    for document in sets:
        wanted = document["spec"]["selector"]["matchLabels"]
        taken = [other for other in runs if selects(wanted, labels_of(other))]
        expect(taken == [document], f"{document['metadata']['name']}: selects pods of others")
    check_hosts(runs, text, service)


def print_pods(path: str) -> None:
    """Print the commands of the pods of a manifest."""
    for document in yaml.safe_load_all(Path(path).read_text(encoding="utf-8")):
        spec = document["spec"]
        for number in range(spec.get("replicas", spec.get("completions", 0))):
            pod = spec["template"]["spec"]
            for container in pod["initContainers"] + pod["containers"]:
                print(f"{document['metadata']['name']}-{number}", shlex.join(container["command"]))


if len(sys.argv) == 2:
    print_pods(sys.argv[1])
    sys.exit(0)
check_manifest(sys.argv[1], sys.argv[2])
print("".join(f"{fault}\n" for fault in faults), end="")
sys.exit(1 if faults else 0)
