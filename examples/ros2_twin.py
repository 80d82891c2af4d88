"""A tendon arm as a node of ROS 2: a twin that runs in real time beside the robot on the bench.

The node listens to commands on `~/command` (std_msgs/Float64MultiArray, one number for each input in their order) and
publishes what the sensors show on `~/readings` (the same type) and where the tip is on `~/tip` (geometry_msgs/PointStamped).
Nothing of ROS 2 is needed to install anguilla. In a shell where ROS 2 is set up:

    python examples/ros2_twin.py

Without ROS 2 the script runs the same arm for a second and prints where its tip is.
"""

from dataclasses import dataclass

import numpy as np

import anguilla as ag

STEP = 0.01  # [s]


@dataclass
class Result:
    t: float  # [s]
    tip: np.ndarray  # (3,) [m]


def arm():
    robot = ag.Robot("arm", gravity=(9.81, 0, 0))  # it hangs along +x
    rubber = ag.Material(young=1.5e5, poisson=0.49, density=1000, damping=0.05)
    rod = robot.add(ag.Rod(0.3, ag.Circle(0.02), rubber, ag.strains.universal(3)), at=robot.ground, name="arm")
    for k, angle in enumerate(2 * np.pi * np.arange(3) / 3):
        path = ag.routings.parallel(y=0.015 * np.cos(angle), z=0.015 * np.sin(angle))
        robot.actuate(f"pull_{k + 1}", ag.Tendon(rod, path))
    robot.sense("tip", ag.sensors.Position(rod.tip))
    robot.sense("speed", ag.sensors.Velocity(rod.tip))
    return robot


def make_node(rclpy_node, array_type, point_type):
    """The class of the node, made from those of ROS 2."""

    class ArmTwin(rclpy_node):
        def __init__(self):
            super().__init__("arm_twin")
            self.stepper = ag.Stepper(arm(), dt=STEP)
            self.create_subscription(array_type, "~/command", self.command, 10)
            self.readings = self.create_publisher(array_type, "~/readings", 10)
            self.tip = self.create_publisher(point_type, "~/tip", 10)
            self.create_timer(STEP, self.tick)

        def command(self, message):
            names = list(self.stepper.robot.inputs)
            if len(message.data) != len(names):
                self.get_logger().warning(f"a command has {len(names)} numbers, for {', '.join(names)}")
                return
            try:
                self.stepper.set_inputs(dict(zip(names, message.data, strict=True)))
            except ag.AnguillaError as error:
                self.get_logger().warning(str(error))

        def tick(self):
            self.stepper.step()
            seen = self.stepper.read().tolist()
            self.readings.publish(array_type(data=seen))
            point = point_type()
            point.header.stamp, point.header.frame_id = self.get_clock().now().to_msg(), "arm_base"
            point.point.x, point.point.y, point.point.z = seen[:3]
            self.tip.publish(point)

    return ArmTwin


def spin():
    """Run the node until it is stopped."""
    import rclpy
    from geometry_msgs.msg import PointStamped
    from rclpy.node import Node
    from std_msgs.msg import Float64MultiArray

    rclpy.init()
    node = make_node(Node, Float64MultiArray, PointStamped)()
    try:
        rclpy.spin(node)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def main():
    """The same arm without ROS 2: a second with one tendon pulled."""
    stepper = ag.Stepper(arm(), dt=STEP)
    for _ in range(100):
        stepper.step({"pull_1": 2.0})
    return Result(stepper.t, stepper.read()[:3])


if __name__ == "__main__":
    try:
        spin()
    except ModuleNotFoundError as error:
        result = main()
        print(f"ROS 2 is not set up here ({error.name} is missing); the arm ran by itself instead.")
        print(f"after {result.t:.2f} s its tip is at {np.round(result.tip, 4)} m")
